package process

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	terminalMultiplexer = "/dev/ptmx"
	terminalDirectory   = "/dev/pts"
	// terminalMountOptions are those of every distribution: group 5 is tty, and everybody may open a terminal.
	terminalMountOptions = "gid=5,mode=620,ptmxmode=666"
)

// TerminalSize is a size in characters.
type TerminalSize struct {
	Columns, Rows uint16
}

// Terminal is the agent's end of a pseudo-terminal: what it writes is typed, what it reads is shown.
type Terminal struct {
	*os.File
	// held is the other end. A program may close all its files before it exits; without this one the terminal would
	// then be over, and so, by a SIGHUP, would be the program.
	held *os.File
}

// OpenTerminal makes a pseudo-terminal of that size that belongs to owner. device is the command's end, for its three
// standard files; the caller closes it once the command has started. When it fails, nothing is left open.
func OpenTerminal(size TerminalSize, owner int) (terminal *Terminal, device *os.File, err error) {
	master, err := openMultiplexer()
	if err != nil {
		return nil, nil, err
	}
	terminal = &Terminal{File: os.NewFile(uintptr(master), terminalMultiplexer)}
	if err := resize(master, size); err != nil {
		terminal.Close()
		return nil, nil, err
	}
	slave, err := openPeer(master, owner)
	if err != nil {
		terminal.Close()
		return nil, nil, err
	}
	device = os.NewFile(uintptr(slave), "terminal")
	held, err := unix.FcntlInt(uintptr(slave), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		device.Close()
		terminal.Close()
		return nil, nil, err
	}
	terminal.held = os.NewFile(uintptr(held), "terminal")
	return terminal, device, nil
}

// Release lets reading end, with an error, as soon as no process has the other end open any more. Call it when the
// command has ended.
func (t *Terminal) Release() { t.held.Close() }

// Resize changes the size; the kernel tells the foreground processes with SIGWINCH.
func (t *Terminal) Resize(size TerminalSize) error {
	raw, err := t.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = resize(int(fd), size) }); err != nil {
		return err
	}
	return failed
}

func resize(master int, size TerminalSize) error {
	return unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Col: size.Columns, Row: size.Rows})
}

// openMultiplexer opens a new terminal, also in a root whose init mounts no terminals.
func openMultiplexer() (int, error) {
	// Not blocking, so that closing it wakes who reads or writes.
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC | unix.O_NONBLOCK
	master, err := unix.Open(terminalMultiplexer, flags, 0)
	// What the multiplexer of devtmpfs answers while no devpts is mounted beside it.
	if err != unix.ENODEV && err != unix.ENOENT {
		return master, err
	}
	if err := os.MkdirAll(terminalDirectory, 0o755); err != nil {
		return -1, err
	}
	if err := unix.Mount("devpts", terminalDirectory, "devpts", 0, terminalMountOptions); err != nil {
		return -1, err
	}
	return unix.Open(terminalMultiplexer, flags, 0)
}

// openPeer opens the other end, through the multiplexer, because its path may lead elsewhere.
func openPeer(master, owner int) (int, error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	peer, _, number := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if number != 0 {
		return -1, number
	}
	if err := prepareDevice(int(peer), owner); err != nil {
		unix.Close(int(peer))
		return -1, err
	}
	return int(peer), nil
}

func prepareDevice(slave, owner int) error {
	if err := unix.Fchown(slave, owner, -1); err != nil {
		return err
	}
	mode, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err != nil {
		return err
	}
	// So that erasing in a line erases whole characters.
	mode.Iflag |= unix.IUTF8
	return unix.IoctlSetTermios(slave, unix.TCSETS, mode)
}
