package ops

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
)

const (
	defaultIdle = 15 * time.Second
	defaultMax  = time.Hour
	// growInterval is how often a file that has been read to its end is looked at again. It is polled because shares
	// of the host (9p) report no changes.
	growInterval = 100 * time.Millisecond
)

type tailRequest struct {
	Path       string `json:"path"`
	FromOffset int64  `json:"fromOffset"`
	IdleMs     *int64 `json:"idleMs"`
	MaxMs      *int64 `json:"maxMs"`
}

type offsetMessage struct {
	Type   string `json:"type"`
	Offset int64  `json:"offset"`
}

// tail sends a file from an offset on, and what is added to it, until nothing has been added for idleMs or maxMs are
// over. The offset it ends at is where the next tail goes on: 0 when the file has become shorter than what was sent
// of it.
func (s *Server) tail(ctx context.Context, call *call) error {
	var request tailRequest
	if err := call.decode(&request); err != nil {
		return err
	}
	if err := checkPath(request.Path); err != nil {
		return err
	}
	idle, longest, err := request.limits()
	if err != nil {
		return err
	}
	path := filepath.Clean(request.Path)
	file, stat, err := openFollowing(path)
	if err != nil {
		return pathFailure(path, err)
	}
	defer file.Close()
	offset := request.FromOffset
	if offset > stat.Size {
		offset = stat.Size
	}
	if err := call.out.WriteControl(offsetMessage{Type: "ok", Offset: offset}); err != nil {
		return err
	}
	follower := &follower{file: file, offset: offset, out: call.out, chunk: make([]byte, copyBytes)}
	if err := follower.follow(call.cancelOnClose(ctx), idle, longest); err != nil {
		return pathFailure(path, err)
	}
	return call.out.WriteControl(offsetMessage{Type: "eof", Offset: follower.offset})
}

func (r *tailRequest) limits() (idle, longest time.Duration, err error) {
	if r.FromOffset < 0 {
		return 0, 0, failf(codeRequestInvalid, "fromOffset must not be negative")
	}
	idle, longest = defaultIdle, defaultMax
	for _, limit := range []struct {
		value  *int64
		target *time.Duration
	}{{r.IdleMs, &idle}, {r.MaxMs, &longest}} {
		if limit.value == nil {
			continue
		}
		*limit.target = time.Duration(*limit.value) * time.Millisecond
		if *limit.target < 0 || *limit.target > defaultMax {
			return 0, 0, failf(codeRequestInvalid, "idleMs and maxMs must be 0 to %d", defaultMax.Milliseconds())
		}
	}
	return idle, longest, nil
}

// openFollowing opens a regular file, through symbolic links: a log is often reached by one.
func openFollowing(path string) (*os.File, *unix.Stat_t, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	return openRegular(unix.AT_FDCWD, target)
}

// follower sends a growing file.
type follower struct {
	file   *os.File
	offset int64
	out    *frames.Writer
	chunk  []byte
}

// follow returns nil at the end of the tail and ctx's error when the host has closed the stream.
func (f *follower) follow(ctx context.Context, idle, longest time.Duration) error {
	end := time.Now().Add(longest)
	lastGrowth := time.Now()
	grow := time.NewTicker(growInterval)
	defer grow.Stop()
	for {
		sent, err := f.sendNew()
		if err != nil || ctx.Err() != nil {
			return firstError(err, ctx.Err())
		}
		now := time.Now()
		if sent {
			lastGrowth = now
		}
		if f.shrank() {
			f.offset = 0
			return nil
		}
		if now.After(end) || !sent && now.Sub(lastGrowth) >= idle {
			return nil
		}
		if sent {
			continue
		}
		select {
		case <-grow.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sendNew sends one chunk of what is behind the offset, and reports whether there was any.
func (f *follower) sendNew() (bool, error) {
	n, err := f.file.ReadAt(f.chunk, f.offset)
	if n == 0 {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	if err := f.out.WriteData(frames.KindDataFromGuest, f.chunk[:n]); err != nil {
		return false, err
	}
	f.offset += int64(n)
	return true, nil
}

func (f *follower) shrank() bool {
	info, err := f.file.Stat()
	return err == nil && info.Size() < f.offset
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
