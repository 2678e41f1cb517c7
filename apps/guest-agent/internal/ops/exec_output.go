package ops

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/process"
)

// outputChunkBytes is the size of a pipe's buffer, the most that one read can find.
const outputChunkBytes = 64 << 10

// output is what a command writes to one of its two streams, or to its terminal.
type output struct {
	reader *os.File
	// writer is the command's end of a pipe; the agent closes its copy once the command has started.
	writer *os.File
	// bytes may be read once done is closed.
	bytes int64
	done  chan struct{}
}

// openOutput makes a pipe whose reading end can be cut off.
func openOutput(name string) (*output, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	// Only the agent's end: the two ends are files of their own, and a command does not expect EAGAIN.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, err
	}
	return &output{
		reader: os.NewFile(uintptr(fds[0]), name),
		writer: os.NewFile(uintptr(fds[1]), name),
		done:   make(chan struct{}),
	}, nil
}

// terminalOutput is what a terminal shows. Its pump closes the terminal.
func terminalOutput(terminal *process.Terminal) *output {
	return &output{reader: terminal.File, done: make(chan struct{})}
}

// pump hands everything to send until nobody holds the writing end any more, or until it is cut off. When send fails,
// the rest is read and dropped, so that the command does not hang on a full pipe before it is killed.
func (o *output) pump(send func([]byte) error, broken func()) {
	defer close(o.done)
	defer o.reader.Close()
	deliver := func(data []byte) {
		o.bytes += int64(len(data))
		if send == nil {
			return
		}
		if err := send(data); err != nil {
			send = nil
			broken()
		}
	}
	chunk := make([]byte, outputChunkBytes)
	for {
		n, err := o.reader.Read(chunk)
		if n > 0 {
			deliver(chunk[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.drain(chunk, deliver)
			return
		}
		if err != nil {
			return
		}
	}
}

// cutOff ends the pump after what is in the pipe now, though somebody may still hold the writing end.
func (o *output) cutOff() {
	// Without a deadline the pump goes on until the last holder has gone, which is late but loses nothing.
	_ = o.reader.SetReadDeadline(time.Unix(1, 0))
}

// drain delivers what the pipe holds at this moment, and no more: somebody may go on writing for ever.
func (o *output) drain(chunk []byte, deliver func([]byte)) {
	if err := o.reader.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	raw, err := o.reader.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && left > 0 {
			var n int
			n, err = unix.Read(int(fd), chunk[:smaller(left, len(chunk))])
			if err == syscall.EINTR {
				err = nil
				continue
			}
			if n <= 0 {
				break
			}
			deliver(chunk[:n])
			left -= n
		}
		return true
	})
}

func smaller(a, b int) int {
	if a < b {
		return a
	}
	return b
}
