package initramfs

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	loopbackName = "lo"
	// The layout of struct ifreq (linux/if.h) on 64-bit machines: the name, then the flags.
	interfaceRequestBytes = 40
	interfaceFlagsOffset  = unix.IFNAMSIZ
)

// configureNetwork gives the machine its name and brings the loopback interface up; the kernel then gives that
// 127.0.0.1.
func configureNetwork(arguments map[string]string) {
	if name := arguments[hostnameArgument]; name != "" {
		if err := unix.Sethostname([]byte(name)); err != nil {
			report(fmt.Errorf("set the hostname: %w", err))
		}
	}
	if err := raiseLoopback(); err != nil {
		report(fmt.Errorf("bring %s up: %w", loopbackName, err))
	}
	if err := configurePeers(); err != nil {
		report(err)
	}
}

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	var request [interfaceRequestBytes]byte
	copy(request[:], loopbackName)
	binary.LittleEndian.PutUint16(request[interfaceFlagsOffset:], unix.IFF_UP|unix.IFF_RUNNING)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request[0])))
	if errno != 0 {
		return errno
	}
	return nil
}
