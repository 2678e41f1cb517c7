package ops

import (
	"context"
	"time"
)

const (
	// beatInterval is the time between two beats without news.
	beatInterval = time.Second
	// lookInterval is how often news is looked for. It must find the root read-only within 200 ms, which is about as
	// long as a guest still lives then.
	lookInterval = 100 * time.Millisecond
)

// guestState is what a change of makes a beat.
type guestState struct {
	rootReadonly bool
	initStopping bool
	execs        int
}

type beatMessage struct {
	Type         string `json:"type"`
	UptimeMs     int64  `json:"uptimeMs"`
	RootReadonly bool   `json:"rootReadonly"`
	InitStopping bool   `json:"initStopping"`
	Execs        int    `json:"execs"`
}

// watch sends beats until the host closes the stream.
func (s *Server) watch(ctx context.Context, call *call) error {
	ctx = call.cancelOnClose(ctx)
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	second := time.NewTicker(beatInterval)
	defer second.Stop()
	stopping := s.monitor.Stopping()
	var told guestState
	for due := true; ; {
		if state := s.state(); due || state != told {
			if err := call.out.WriteControl(beat(state)); err != nil {
				return err
			}
			told, due = state, false
		}
		select {
		case <-second.C:
			due = true
		case <-look.C:
		case <-stopping:
			// A closed channel is always ready: it wakes this loop once.
			stopping = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Server) state() guestState {
	return guestState{
		rootReadonly: s.monitor.RootReadonly(),
		initStopping: s.monitor.InitStopping(),
		execs:        s.execs.count(),
	}
}

func beat(state guestState) beatMessage {
	return beatMessage{
		Type:         "beat",
		UptimeMs:     uptimeMs(),
		RootReadonly: state.rootReadonly,
		InitStopping: state.initStopping,
		Execs:        state.execs,
	}
}
