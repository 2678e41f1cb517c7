package ops

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	shareFilesystem = "9p"
	// shareOptions are those of the kernel's Documentation/filesystems/9p.rst. The largest message spares an emulated
	// machine round trips; nothing is cached, so that the guest sees what the host changes.
	shareOptions = "trans=virtio,version=9p2000.L,msize=262144,cache=none"
	// shareFlags: the host's directory is not the guest's to write, and nothing in it has rights in the guest.
	shareFlags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV

	tagChars = "abcdefghijklmnopqrstuvwxyz0123456789"
	maxTag   = 31
)

type mountRequest struct {
	Tag  string `json:"tag"`
	Path string `json:"path"`
}

// mountShare mounts a directory that the host shares. Its mount point is made when missing.
func mountShare(request mountRequest) (any, error) {
	if err := checkPath(request.Path); err != nil {
		return nil, err
	}
	target := filepath.Clean(request.Path)
	switch {
	case target == "/":
		return nil, failf(codePathInvalid, "the root directory cannot be a share")
	case request.Tag == "" || len(request.Tag) > maxTag || strings.Trim(request.Tag, tagChars) != "":
		return nil, failf(codeRequestInvalid, "tag must be 1 to %d lower-case letters and digits", maxTag)
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return nil, pathFailure(target, err)
	}
	if err := unix.Mount(request.Tag, target, shareFilesystem, shareFlags, shareOptions); err != nil {
		return nil, failf(codeOpFailed, "mount the share %s on %s: %v", request.Tag, target, err)
	}
	return okMessage, nil
}
