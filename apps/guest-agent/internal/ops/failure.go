package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"inquest.dev/guest-agent/internal/frames"
)

// The codes of failures, as docs/guest-protocol.md and the host's table of errors have them.
const (
	codeOpUnknown       = "OP_UNKNOWN"
	codeOpFailed        = "OP_FAILED"
	codeRequestInvalid  = "REQUEST_INVALID"
	codeArgumentInvalid = "EXEC_ARGUMENT_INVALID"
	codeCwdMissing      = "EXEC_CWD_MISSING"
	codeEnvInvalid      = "EXEC_ENV_INVALID"
	codeExecIDUnknown   = "EXEC_ID_UNKNOWN"
	codeExecNotFound    = "EXEC_NOT_FOUND"
	codeExecPermission  = "EXEC_PERMISSION"
	codeSignalInvalid   = "EXEC_SIGNAL_INVALID"
	codeTerminalMissing = "EXEC_TERMINAL_MISSING"
	codeUserUnknown     = "EXEC_USER_UNKNOWN"
	codePathInvalid     = "PATH_INVALID"
	codePathNotFound    = "PATH_NOT_FOUND"
	codePathPermission  = "PATH_PERMISSION"
	codeNotADirectory   = "PATH_NOT_A_DIRECTORY"
	codeIsADirectory    = "PATH_IS_A_DIRECTORY"
	codeNotEmpty        = "PATH_NOT_EMPTY"
	codePathIO          = "PATH_IO"
	codeDiskFull        = "DISK_FULL"
	codePeerUnreachable = "PEER_UNREACHABLE"
	codeTarRefused      = "TAR_ENTRY_REFUSED"
	codeTarInvalid      = "TAR_INVALID"
)

// failure is an error that the host is told of, in the last frame of the stream.
type failure struct {
	Code    string
	Message string
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

func failf(code, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// pathFailure turns an error of the system on path into a failure. What is a failure already, or is about the stream
// and not about the path, passes unchanged, and so does nil.
func pathFailure(path string, err error) error {
	var known *failure
	var violation *frames.ProtocolError
	var broken *frames.StreamError
	if err == nil || errors.As(err, &known) || errors.As(err, &violation) || errors.As(err, &broken) || errors.Is(err, context.Canceled) {
		return err
	}
	return &failure{Code: pathCode(err), Message: fmt.Sprintf("%s: %s", path, systemText(err))}
}

func pathCode(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return codePathIO
	}
	switch number {
	case syscall.ENOENT:
		return codePathNotFound
	case syscall.EACCES, syscall.EPERM:
		return codePathPermission
	case syscall.ENOTDIR:
		return codeNotADirectory
	case syscall.EISDIR:
		return codeIsADirectory
	case syscall.ENOTEMPTY:
		return codeNotEmpty
	case syscall.ENOSPC, syscall.EDQUOT:
		return codeDiskFull
	default:
		return codePathIO
	}
}

// systemText is the text of the system alone, without the operation and the path that Go puts before it.
func systemText(err error) string {
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		return onPath.Err.Error()
	}
	return err.Error()
}
