// Package lifecycle knows how the guest's system is doing: the witness, for the host, of an orderly shutdown.
package lifecycle

import (
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	initNameFile = "/proc/1/comm"
	// systemdShutdownName is what the kernel keeps (15 bytes) of "systemd-shutdown", the program that systemd turns
	// into for the last steps of a shutdown. It spares processes whose argv[0] begins with '@', so no signal tells
	// the agent of it.
	systemdShutdownName = "systemd-shutdow"
)

// Monitor watches for the end of the guest's system.
type Monitor struct {
	once     sync.Once
	stopping chan struct{}
}

// StartMonitor begins to take SIGTERM, by which init tells every process that the system stops, as that news instead
// of as an order: the agent goes on serving.
func StartMonitor() *Monitor {
	monitor := &Monitor{stopping: make(chan struct{})}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	// Received and dropped rather than ignored: an ignored signal would stay ignored in every child.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	go func() {
		<-terminated
		monitor.markStopping()
	}()
	return monitor
}

// Stopping is closed once SIGTERM has come.
func (m *Monitor) Stopping() <-chan struct{} { return m.stopping }

// InitStopping reports whether init has begun to stop the system. It never goes back to false.
func (m *Monitor) InitStopping() bool {
	if name, err := os.ReadFile(initNameFile); err == nil && strings.TrimSpace(string(name)) == systemdShutdownName {
		m.markStopping()
	}
	select {
	case <-m.stopping:
		return true
	default:
		return false
	}
}

// RootReadonly reports whether the root file system is mounted read-only now.
func (m *Monitor) RootReadonly() bool {
	var stat unix.Statfs_t
	return unix.Statfs("/", &stat) == nil && stat.Flags&unix.ST_RDONLY != 0
}

func (m *Monitor) markStopping() {
	m.once.Do(func() { close(m.stopping) })
}
