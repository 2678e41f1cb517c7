package initramfs

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	interfaceAddresses = "/sys/class/net/*/address"
	// peerPrefix begins the hardware address of a card that leads to other machines of the same group; the last byte
	// is the machine's number.
	peerPrefix = "52:54:00:be:ef:"
	// sockaddrOffset is where struct ifreq (linux/if.h) has its address, and addressOffset where struct sockaddr_in has its own.
	sockaddrOffset = unix.IFNAMSIZ
	addressOffset  = 4
)

var peerMask = [4]byte{255, 255, 255, 0}

// configurePeers gives each card that leads to other machines of the group the address that its hardware address
// stands for. The host counts on that address, so nothing else has to tell the two of it.
func configurePeers() error {
	files, err := filepath.Glob(interfaceAddresses)
	if err != nil {
		return err
	}
	for _, file := range files {
		hardware, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		address, isPeer := peerAddress(strings.TrimSpace(string(hardware)))
		if !isPeer {
			continue
		}
		name := filepath.Base(filepath.Dir(file))
		if err := raiseInterface(name, address); err != nil {
			return fmt.Errorf("bring %s up: %w", name, err)
		}
	}
	return nil
}

// peerAddress is 10 and the last three bytes of the hardware address: 52:54:00:be:ef:02 is 10.190.239.2.
func peerAddress(hardware string) (address [4]byte, isPeer bool) {
	if !strings.HasPrefix(hardware, peerPrefix) {
		return address, false
	}
	bytes, err := net.ParseMAC(hardware)
	if err != nil {
		return address, false
	}
	return [4]byte{10, bytes[3], bytes[4], bytes[5]}, true
}

func raiseInterface(name string, address [4]byte) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	for _, step := range []struct {
		request uintptr
		value   func(request []byte)
	}{
		{unix.SIOCSIFADDR, func(request []byte) { putAddress(request, address) }},
		{unix.SIOCSIFNETMASK, func(request []byte) { putAddress(request, peerMask) }},
		{unix.SIOCSIFFLAGS, func(request []byte) {
			binary.LittleEndian.PutUint16(request[interfaceFlagsOffset:], unix.IFF_UP|unix.IFF_RUNNING)
		}},
	} {
		var request [interfaceRequestBytes]byte
		copy(request[:unix.IFNAMSIZ-1], name)
		step.value(request[:])
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), step.request, uintptr(unsafe.Pointer(&request[0])))
		if errno != 0 {
			return errno
		}
	}
	return nil
}

func putAddress(request []byte, address [4]byte) {
	binary.LittleEndian.PutUint16(request[sockaddrOffset:], unix.AF_INET)
	copy(request[sockaddrOffset+addressOffset:], address[:])
}
