package modules

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// kernelGroup is the multicast group of the kernel's own device events (lib/kobject_uevent.c).
	kernelGroup = 1
	// eventBytes holds the largest event (UEVENT_BUFFER_SIZE, and its header).
	eventBytes    = 8 << 10
	actionKey     = "ACTION="
	addAction     = "add"
	aliasKey      = "MODALIAS="
	eventSplitter = "\x00"
)

// LoadForHotplug loads modules for devices that are added from now on, from the initramfs at root, and gives each
// error to report. It returns only with an error of the kernel's event socket.
func LoadForHotplug(root string, report func(error)) error {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return fmt.Errorf("open the device events: %w", err)
	}
	defer unix.Close(socket)
	if err := unix.Bind(socket, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: kernelGroup}); err != nil {
		return fmt.Errorf("listen to device events: %w", err)
	}
	event := make([]byte, eventBytes)
	for {
		n, from, err := unix.Recvfrom(socket, event, 0)
		switch {
		case err == unix.EINTR || err == unix.ENOBUFS:
			continue
		case err != nil:
			return fmt.Errorf("read a device event: %w", err)
		}
		// Only the kernel has the address 0: a process of the guest must not have modules loaded.
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue
		}
		if alias := addedAlias(string(event[:n])); alias != "" {
			for _, err := range LoadForDevice(root, alias) {
				report(err)
			}
		}
	}
}

// addedAlias returns the modalias of an event that tells of a new device, or "".
func addedAlias(event string) string {
	action, alias := "", ""
	for _, entry := range strings.Split(event, eventSplitter) {
		switch {
		case strings.HasPrefix(entry, actionKey):
			action = strings.TrimPrefix(entry, actionKey)
		case strings.HasPrefix(entry, aliasKey):
			alias = strings.TrimPrefix(entry, aliasKey)
		}
	}
	if action != addAction {
		return ""
	}
	return alias
}
