package ops

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
)

const (
	newFileMode      = 0o644
	newDirectoryMode = 0o755
	// maxSettableMode leaves out setuid, setgid and sticky: the host brings files, not privileges.
	maxSettableMode = 0o777
	copyBytes       = 256 << 10
)

type putRequest struct {
	Dest string `json:"dest"`
	Kind string `json:"kind"`
	User string `json:"user"`
	Mode string `json:"mode"`
}

type putMessage struct {
	Type    string `json:"type"`
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
}

// put stores the data of the stream at dest: a file, which appears there only when it is complete, or the entries of a
// tar below a directory. The mode of the request is the file's; entries of a tar have their own.
func (s *Server) put(_ context.Context, call *call) error {
	call.dataDue = true
	var request putRequest
	if err := call.decode(&request); err != nil {
		return err
	}
	if err := checkPath(request.Dest); err != nil {
		return err
	}
	mode, err := parseMode(request.Mode)
	if err != nil {
		return err
	}
	owner, err := lookupAccount(request.User)
	if err != nil {
		return err
	}
	data := &inboundData{call: call}
	message := putMessage{Type: "ok"}
	switch request.Kind {
	case "file":
		message.Entries = 1
		message.Bytes, err = storeFile(request.Dest, mode, owner, data)
	case "tar":
		message.Entries, message.Bytes, err = storeTar(request.Dest, owner, data)
	default:
		err = failf(codeRequestInvalid, "kind must be \"tar\" or \"file\"")
	}
	if err != nil {
		return pathFailure(request.Dest, err)
	}
	return call.out.WriteControl(message)
}

// parseMode reads the octal mode of a request. The empty one is the default for a file.
func parseMode(text string) (uint32, error) {
	if text == "" {
		return newFileMode, nil
	}
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil || mode > maxSettableMode {
		return 0, failf(codeRequestInvalid, "mode must be octal, 0 to %o", maxSettableMode)
	}
	return uint32(mode), nil
}

// storeFile writes the data beside dest and renames it into place, so that dest is never half a file. What stood
// there is replaced; a symbolic link is replaced, not followed.
func storeFile(dest string, mode uint32, owner *account, data io.Reader) (written int64, err error) {
	dest = filepath.Clean(dest)
	if dest == "/" || isRealDirectory(dest) {
		return 0, syscall.EISDIR
	}
	if err := makePath(filepath.Dir(dest), owner); err != nil {
		return 0, err
	}
	file, err := os.CreateTemp(filepath.Dir(dest), ".inquest-put-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	written, err = io.CopyBuffer(file, data, make([]byte, copyBytes))
	if err == nil {
		err = dress(file, mode, owner)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), dest)
	}
	return written, err
}

// dress gives an open file its owner and then its mode, which a change of owner may cut.
func dress(file *os.File, mode uint32, owner *account) error {
	if owner.uid() != os.Geteuid() || owner.gid() != os.Getegid() {
		if err := file.Chown(owner.uid(), owner.gid()); err != nil {
			return err
		}
	}
	return unix.Fchmod(int(file.Fd()), mode)
}

func isRealDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// makePath creates a directory and its missing parents, owned by owner. Unlike the names inside an archive, the path
// is the host's own word, so symbolic links in it are followed.
func makePath(path string, owner *account) error {
	err := makeDirectory(unix.AT_FDCWD, path, newDirectoryMode, owner)
	if err == unix.ENOENT {
		if err := makePath(filepath.Dir(path), owner); err != nil {
			return err
		}
		err = makeDirectory(unix.AT_FDCWD, path, newDirectoryMode, owner)
	}
	if err == unix.EEXIST {
		if isDirectory(path) {
			return nil
		}
		return syscall.ENOTDIR
	}
	return err
}

// inboundData is the content of the data frames of a stream. It ends at the frame that says so; a stream that ends
// before is an error, so that half a file is never taken for a whole one.
type inboundData struct {
	call *call
	rest []byte
}

func (d *inboundData) Read(into []byte) (int, error) {
	for len(d.rest) == 0 {
		if !d.call.dataDue {
			return 0, io.EOF
		}
		frame, err := d.call.in.ReadFrame()
		switch {
		case errors.Is(err, io.EOF):
			return 0, &frames.ProtocolError{Code: frames.CodeTruncated, Message: "the stream ended before its data did"}
		case err != nil:
			return 0, err
		case frame.Kind == frames.KindDataToGuest:
			d.rest = frame.Payload
		case frame.Kind == frames.KindEnd:
			d.call.dataDue = false
		default:
			return 0, orderError(frame.Kind, "in the data of a put")
		}
	}
	n := copy(into, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}
