package ops

import (
	"strconv"
	"sync"
	"syscall"

	"inquest.dev/guest-agent/internal/process"
)

// execTable holds the commands that run, by the id that the host knows them by.
type execTable struct {
	mutex   sync.Mutex
	last    uint64
	running map[string]*process.Child
}

func newExecTable() *execTable {
	return &execTable{running: make(map[string]*process.Child)}
}

// add registers a command and returns its id, which is never used again.
func (t *execTable) add(child *process.Child) string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.last++
	id := "exec-" + strconv.FormatUint(t.last, 10)
	t.running[id] = child
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
	child, running := t.running[id]
	if !running {
		return failf(codeExecIDUnknown, "no running command has the id %.64q", id)
	}
	if err := process.SignalGroup(child, sig); err != nil {
		return failf(codeOpFailed, "signal the command %s: %v", id, err)
	}
	return nil
}
