package vsock

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Dial opens a stream to a port of the host. The kernel bounds the wait for the host's answer (2 s, its default). It
// fails at once when the kernel has no AF_VSOCK.
func Dial(port uint32) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a vsock socket: %w", err)
	}
	err = unix.Connect(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_HOST, Port: port})
	if err == nil {
		// Only a descriptor that does not block takes deadlines.
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("connect to vsock port %d of the host: %w", port, err)
	}
	return os.NewFile(uintptr(fd), "vsock-stream"), nil
}
