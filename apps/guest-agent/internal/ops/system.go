package ops

import (
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

// setClock sets the wall clock. The host does so after it has restored a machine from a template, so the random number
// generator, which every clone of the template has in the same state, gets fresh entropy in the same breath.
func setClock(request clockRequest) (any, error) {
	if request.SetToMs == nil || *request.SetToMs < 0 {
		return nil, failf(codeRequestInvalid, "setToMs must be a time in milliseconds since 1970")
	}
	now := unix.NsecToTimeval(*request.SetToMs * int64(time.Millisecond))
	if err := unix.Settimeofday(&now); err != nil {
		return nil, failf(codeOpFailed, "set the clock: %v", err)
	}
	if err := lifecycle.Reseed(); err != nil {
		return nil, failf(codeOpFailed, "the clock is set, but the random numbers are not reseeded: %v", err)
	}
	return okMessage, nil
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

// quiesce writes everything that is not on the disk yet.
func quiesce(noProperties) (any, error) {
	unix.Sync()
	return okMessage, nil
}
