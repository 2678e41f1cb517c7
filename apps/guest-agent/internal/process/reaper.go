// Package process starts the commands of the guest and reaps every process that ends below the agent.
package process

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groupPollInterval is how often a group, or a session, is looked at again when no child of the agent itself has ended meanwhile: a
// process of the group that still has its own parent is reaped by that one, unseen from here.
const groupPollInterval = 20 * time.Millisecond

// Reaper owns wait4 for the whole agent: it is the only place that waits for processes, because orphans of every
// command come to the agent as well and one wait4(-1) cannot be shared. Programs started in any other way lose their
// status to it.
type Reaper struct {
	mutex    sync.Mutex
	children map[int]*Child
	// reaped is closed and replaced whenever some process was reaped.
	reaped chan struct{}
	shield *oomShield
}

// Child is a process started by a Reaper.
type Child struct {
	// Pid is also the id of the process group and of the session.
	Pid int
	// Exited is closed once Status is valid.
	Exited <-chan struct{}

	exited chan struct{}
	status syscall.WaitStatus
}

// Status is how the process ended. It is valid after Exited is closed.
func (c *Child) Status() syscall.WaitStatus { return c.status }

// StartReaper makes the calling process a subreaper, which the orphans below it are handed to, and reaps until the
// process ends. It fails when the kernel has no subreapers. Call it once.
func StartReaper() (*Reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	reaper := &Reaper{
		children: make(map[int]*Child),
		reaped:   make(chan struct{}),
		shield:   newOOMShield(),
	}
	// One slot is enough: each wake-up reaps all there are.
	childEnded := make(chan os.Signal, 1)
	signal.Notify(childEnded, syscall.SIGCHLD)
	go func() {
		for range childEnded {
			reaper.reapAll()
		}
	}()
	return reaper, nil
}

// Start runs path in a new session and process group of its own. The error is the system's (ENOENT, EACCES, ...), and
// then nothing was run.
func (r *Reaper) Start(path string, argv []string, attributes *syscall.ProcAttr) (*Child, error) {
	if attributes.Sys == nil {
		attributes.Sys = &syscall.SysProcAttr{}
	}
	attributes.Sys.Setsid = true
	// The lock is held until the child is known, so that one that ends at once is not taken for an orphan.
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.shield.lower()
	pid, err := syscall.ForkExec(path, argv, attributes)
	r.shield.raise()
	if err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	child := &Child{Pid: pid, Exited: exited, exited: exited}
	r.children[pid] = child
	return child, nil
}

// SignalGroup sends a signal to every process of the group of child, also when child itself has ended: the kernel
// does not give an id away while a process has it as its group, and hands ids out in a circle. A group without a
// process is no error.
func SignalGroup(child *Child, sig syscall.Signal) error {
	if err := syscall.Kill(-child.Pid, sig); err != nil && err != syscall.ESRCH {
		return err
	}
	return nil
}

// AwaitGroupGone waits until no process is left in the group of child, at most limit, and reports whether that is so.
func (r *Reaper) AwaitGroupGone(child *Child, limit time.Duration) bool {
	return r.awaitGone(func() bool { return syscall.Kill(-child.Pid, 0) == syscall.ESRCH }, limit)
}

// awaitGone looks again whenever a process was reaped.
func (r *Reaper) awaitGone(isGone func() bool, limit time.Duration) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	poll := time.NewTicker(groupPollInterval)
	defer poll.Stop()
	for {
		reaped := r.nextReaped()
		if isGone() {
			return true
		}
		select {
		case <-reaped:
		case <-poll.C:
		case <-deadline.C:
			return false
		}
	}
}

func (r *Reaper) nextReaped() <-chan struct{} {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.reaped
}

func (r *Reaper) reapAll() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		r.settle(pid, status)
	}
}

func (r *Reaper) settle(pid int, status syscall.WaitStatus) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if child, known := r.children[pid]; known {
		delete(r.children, pid)
		child.status = status
		close(child.exited)
	}
	close(r.reaped)
	r.reaped = make(chan struct{})
}
