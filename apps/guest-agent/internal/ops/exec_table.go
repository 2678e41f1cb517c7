package ops

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"

	"inquest.dev/guest-agent/internal/process"
)

// execTable holds the commands that run, by the id that the host knows them by.
type execTable struct {
	mutex   sync.Mutex
	last    uint64
	running map[string]tableEntry
}

type tableEntry struct {
	child *process.Child
	// terminal is nil for a command without one.
	terminal *process.Terminal
}

func newExecTable() *execTable {
	return &execTable{running: make(map[string]tableEntry)}
}

// add registers a command and returns its id, which is never used again.
func (t *execTable) add(child *process.Child, terminal *process.Terminal) string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.last++
	id := "exec-" + strconv.FormatUint(t.last, 10)
	t.running[id] = tableEntry{child: child, terminal: terminal}
	return id
}

func (t *execTable) remove(id string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.running, id)
}

func (t *execTable) count() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.running)
}

// signalGroup signals the group of a running command. The lock keeps the command in the table meanwhile, so that its
// group's id cannot belong to anybody else yet.
func (t *execTable) signalGroup(id string, sig syscall.Signal) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	entry, running := t.running[id]
	if !running {
		return unknownExec(id)
	}
	if err := process.SignalGroup(entry.child, sig); err != nil {
		return failf(codeOpFailed, "signal the command %s: %v", id, err)
	}
	return nil
}

// resize changes the size of the terminal of a running command.
func (t *execTable) resize(id string, size process.TerminalSize) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	entry, running := t.running[id]
	switch {
	case !running:
		return unknownExec(id)
	case entry.terminal == nil:
		return failf(codeTerminalMissing, "the command %s has no terminal", id)
	}
	err := entry.terminal.Resize(size)
	// The last process that had it open is gone, and the command leaves the table in a moment.
	if errors.Is(err, os.ErrClosed) {
		return unknownExec(id)
	}
	if err != nil {
		return failf(codeOpFailed, "resize the terminal of the command %s: %v", id, err)
	}
	return nil
}

func unknownExec(id string) error {
	return failf(codeExecIDUnknown, "no running command has the id %.64q", id)
}
