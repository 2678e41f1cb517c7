package ops

import (
	"os"

	"inquest.dev/guest-agent/internal/frames"
)

// inputQueueFrames bounds how much input waits for a command that does not read it: 4 frames are at most 1 MiB. A
// closed stream is noticed behind as much unread input, not behind more.
const inputQueueFrames = 4

// readInput passes the host's frames to the standard input of a command, when it has one, and returns when the stream
// ends or breaks the protocol.
func readInput(in *frames.Reader, stdin *os.File) {
	var queue chan []byte
	if stdin != nil {
		queue = make(chan []byte, inputQueueFrames)
		go writeInput(stdin, queue)
	}
	defer func() {
		if queue != nil {
			close(queue)
		}
	}()
	for {
		frame, err := in.ReadFrame()
		switch {
		case err != nil || queue == nil:
			return
		case frame.Kind == frames.KindDataToGuest:
			queue <- frame.Payload
		case frame.Kind == frames.KindEnd:
			close(queue)
			queue = nil
		default:
			return
		}
	}
}

// writeInput owns stdin. It takes all of queue, also after the command has stopped reading, so that the reader of the
// stream never waits for a command that is gone.
func writeInput(stdin *os.File, queue <-chan []byte) {
	open := true
	for data := range queue {
		if !open {
			continue
		}
		if _, err := stdin.Write(data); err != nil {
			open = false
			stdin.Close()
		}
	}
	if open {
		stdin.Close()
	}
}
