package ops

import (
	"log"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/lifecycle"
)

type noProperties struct{}

type clockRequest struct {
	SetToMs *int64 `json:"setToMs"`
}

type shutdownRequest struct {
	Mode string `json:"mode"`
}

// setClock sets the wall clock. The host does so when the machine was paused for long, so the random number generator
// gets fresh entropy in the same breath.
func setClock(request clockRequest) (any, error) {
	if request.SetToMs == nil || *request.SetToMs < 0 {
		return nil, failf(codeRequestInvalid, "setToMs must be a time in milliseconds since 1970")
	}
	if err := setWallClock(*request.SetToMs); err != nil {
		return nil, failf(codeOpFailed, "set the clock: %v", err)
	}
	if err := lifecycle.Reseed(nil); err != nil {
		return nil, failf(codeOpFailed, "the clock is set, but the random numbers are not reseeded: %v", err)
	}
	return okMessage, nil
}

// setWallClock sets the wall clock to a time in milliseconds since 1970.
func setWallClock(toMs int64) error {
	now := unix.NsecToTimeval(toMs * int64(time.Millisecond))
	return unix.Settimeofday(&now)
}

// shutdown asks init to stop the system.
func (s *Server) shutdown(request shutdownRequest) (any, error) {
	order := lifecycle.Order(request.Mode)
	if order != lifecycle.Poweroff && order != lifecycle.Reboot {
		return nil, failf(codeRequestInvalid, "mode must be %q or %q", lifecycle.Poweroff, lifecycle.Reboot)
	}
	if err := lifecycle.AskInit(order); err != nil {
		return nil, failf(codeOpFailed, "ask init for a %s: %v", order, err)
	}
	return okMessage, nil
}

// quiesce writes everything that is not on the disk yet, and prepares the system for the rebirth of its clones.
func (s *Server) quiesce(noProperties) (any, error) {
	if err := s.life.Prepare(); err != nil {
		// A rebirth is then slower, and as good.
		log.Printf("quiesce: %v", err)
	}
	unix.Sync()
	return okMessage, nil
}
