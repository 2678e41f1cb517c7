// Package mux carries many streams over one virtio-serial port: a preamble that agrees on a fresh start, then yamux.
package mux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// PortName is the name the host gives to the virtio-serial port of the mux.
const PortName = "inquest.mux"

const (
	portClassGlob = "/sys/class/virtio-ports/*/name"
	// presenceCheck bounds one wait for the host, in case the kernel sends no event for its return.
	presenceCheck = time.Second
)

// ErrNoPort says that the machine has no virtio-serial port named PortName.
var ErrNoPort = errors.New("no virtio-serial port named " + PortName)

// Port is the open virtio-serial port. A read at its end of file means that the host is away, and may succeed later.
type Port struct {
	file     *os.File
	presence int
	inbound  inbound
	current  currentSession
}

// OpenPort finds and opens the port, which tells the host that the agent is up. The error is ErrNoPort when there is
// none; the kernel refuses a second opener (EBUSY).
func OpenPort() (*Port, error) {
	device, err := findDevice()
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", device, err)
	}
	presence, err := watchPresence(fd)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watch %s: %w", device, err)
	}
	file := os.NewFile(uintptr(fd), device)
	return &Port{file: file, presence: presence, inbound: inbound{source: file}}, nil
}

func findDevice() (string, error) {
	names, err := filepath.Glob(portClassGlob)
	if err != nil {
		return "", err
	}
	for _, nameFile := range names {
		name, err := os.ReadFile(nameFile)
		if err == nil && strings.TrimSpace(string(name)) == PortName {
			return "/dev/" + filepath.Base(filepath.Dir(nameFile)), nil
		}
	}
	return "", ErrNoPort
}

// watchPresence returns an epoll descriptor that wakes at each change of the port. It is edge-triggered because a port
// without its host is always "ready" (EPOLLHUP): only an edge tells of the host's return.
func watchPresence(fd int) (int, error) {
	poller, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return 0, err
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	if err := unix.EpollCtl(poller, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		unix.Close(poller)
		return 0, err
	}
	return poller, nil
}

// awaitChange returns when the port has changed since the last call, or after presenceCheck.
func (p *Port) awaitChange() {
	var events [1]unix.EpollEvent
	// An interrupted or failed wait only makes the caller look at the port once more.
	_, _ = unix.EpollWait(p.presence, events[:], int(presenceCheck.Milliseconds()))
}
