package ops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
)

type getRequest struct {
	Path    string   `json:"path"`
	Kind    string   `json:"kind"`
	Exclude []string `json:"exclude"`
}

type endMessage struct {
	Type   string `json:"type"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// get sends a file, or a tar of a tree. Symbolic links are not followed: the final one of a path, and all in a tree.
func (s *Server) get(ctx context.Context, call *call) error {
	var request getRequest
	if err := call.decode(&request); err != nil {
		return err
	}
	if err := checkPath(request.Path); err != nil {
		return err
	}
	path := filepath.Clean(request.Path)
	data := &outboundData{ctx: call.cancelOnClose(ctx), out: call.out, digest: sha256.New()}
	var err error
	switch request.Kind {
	case "file":
		err = sendFile(path, call, data)
	case "tar":
		err = sendTar(path, request.Exclude, call, data)
	default:
		err = failf(codeRequestInvalid, "kind must be \"tar\" or \"file\"")
	}
	if err != nil {
		return pathFailure(path, err)
	}
	if err := call.out.WriteEnd(); err != nil {
		return err
	}
	return call.out.WriteControl(endMessage{
		Type:   "end",
		Bytes:  data.bytes,
		SHA256: hex.EncodeToString(data.digest.Sum(nil)),
	})
}

func sendFile(path string, call *call, data *outboundData) error {
	file, _, err := openRegular(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := call.out.WriteControl(okMessage); err != nil {
		return err
	}
	_, err = io.CopyBuffer(data, onlyReader{file}, make([]byte, copyBytes))
	return err
}

// openRegular opens a regular file for reading; anything else, a symbolic link included, is refused. It does not wait
// for the other end of a pipe.
func openRegular(at int, name string) (*os.File, *unix.Stat_t, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == unix.ELOOP {
		return nil, nil, failf(codePathIO, "%s is a symbolic link", name)
	}
	if err != nil {
		return nil, nil, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		unix.Close(fd)
		return nil, nil, err
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return os.NewFile(uintptr(fd), name), &stat, nil
	case unix.S_IFDIR:
		unix.Close(fd)
		return nil, nil, unix.EISDIR
	default:
		unix.Close(fd)
		return nil, nil, failf(codePathIO, "%s is no regular file", name)
	}
}

// onlyReader hides what else a file can do, so that a copy uses the buffer it is given.
type onlyReader struct{ io.Reader }

// outboundData writes data frames and keeps count of what it wrote.
type outboundData struct {
	ctx    context.Context
	out    *frames.Writer
	digest hash.Hash
	bytes  int64
}

func (d *outboundData) Write(data []byte) (int, error) {
	if err := d.ctx.Err(); err != nil {
		return 0, err
	}
	if err := d.out.WriteData(frames.KindDataFromGuest, data); err != nil {
		return 0, err
	}
	d.digest.Write(data)
	d.bytes += int64(len(data))
	return len(data), nil
}
