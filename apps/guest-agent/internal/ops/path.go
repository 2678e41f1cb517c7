package ops

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kinds of files that stat and list tell.
const (
	kindFile  = "file"
	kindDir   = "dir"
	kindLink  = "link"
	kindOther = "other"
)

const (
	// permissionBits are the bits of a mode that chmod(2) sets.
	permissionBits = 0o7777
	// maxListEntries bounds one listing.
	maxListEntries = 10_000
	// maxListBytes keeps a listing, as JSON, within one control frame. Names are escaped to at most six bytes for
	// one, and an entry's other properties fit entryOverheadBytes.
	maxListBytes       = 1000 << 10
	entryOverheadBytes = 128
	maxEscape          = 6
)

type pathRequest struct {
	Path string `json:"path"`
}

type listRequest struct {
	Path  string `json:"path"`
	Limit *int   `json:"limit"`
}

type removeRequest struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
}

type statMessage struct {
	Type    string `json:"type"`
	Kind    string `json:"kind"`
	Size    int64  `json:"size"`
	Mode    string `json:"mode"`
	MtimeMs int64  `json:"mtimeMs"`
	UID     uint32 `json:"uid"`
	GID     uint32 `json:"gid"`
}

type listEntry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Size    int64  `json:"size"`
	Mode    string `json:"mode"`
	MtimeMs int64  `json:"mtimeMs"`
}

type listMessage struct {
	Type      string      `json:"type"`
	Entries   []listEntry `json:"entries"`
	Truncated bool        `json:"truncated"`
}

// checkPath accepts absolute paths that the kernel accepts.
func checkPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return failf(codePathInvalid, "the path %.256q is not absolute", path)
	case strings.IndexByte(path, 0) >= 0:
		return failf(codePathInvalid, "the path contains a NUL byte")
	case len(path) >= unix.PathMax:
		return failf(codePathInvalid, "the path has %d bytes; the limit is %d", len(path), unix.PathMax-1)
	default:
		return nil
	}
}

// statPath describes a file; of a symbolic link, the link itself.
func statPath(request pathRequest) (any, error) {
	if err := checkPath(request.Path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(request.Path)
	if err != nil {
		return nil, pathFailure(request.Path, err)
	}
	message := statMessage{
		Type:    "stat",
		Kind:    kindOf(info),
		Size:    info.Size(),
		Mode:    octalMode(info),
		MtimeMs: info.ModTime().UnixMilli(),
	}
	if system, ok := info.Sys().(*syscall.Stat_t); ok {
		message.UID, message.GID = system.Uid, system.Gid
	}
	return message, nil
}

// listDirectory describes the entries of a directory, by name. It takes the first ones the file system gives when
// there are more than the limit, or more than one frame holds.
func listDirectory(request listRequest) (any, error) {
	if err := checkPath(request.Path); err != nil {
		return nil, err
	}
	limit := maxListEntries
	if request.Limit != nil {
		limit = *request.Limit
	}
	if limit < 1 || limit > maxListEntries {
		return nil, failf(codeRequestInvalid, "limit must be 1 to %d", maxListEntries)
	}
	names, truncated, err := readNames(request.Path, limit)
	if err != nil {
		return nil, pathFailure(request.Path, err)
	}
	message := listMessage{Type: "list", Entries: []listEntry{}, Truncated: truncated}
	encodedBytes := 0
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(request.Path, name))
		if err != nil {
			// The entry went away between the two looks.
			continue
		}
		encodedBytes += len(name)*maxEscape + entryOverheadBytes
		if encodedBytes > maxListBytes {
			message.Truncated = true
			break
		}
		message.Entries = append(message.Entries, listEntry{
			Name:    name,
			Kind:    kindOf(info),
			Size:    info.Size(),
			Mode:    octalMode(info),
			MtimeMs: info.ModTime().UnixMilli(),
		})
	}
	return message, nil
}

// removePath removes a file, an empty directory, or with recursive a whole tree; symbolic links are never followed.
func removePath(request removeRequest) (any, error) {
	if err := checkPath(request.Path); err != nil {
		return nil, err
	}
	if filepath.Clean(request.Path) == "/" {
		return nil, failf(codePathInvalid, "the root directory cannot be removed")
	}
	if _, err := os.Lstat(request.Path); err != nil {
		return nil, pathFailure(request.Path, err)
	}
	remove := os.Remove
	if request.Recursive {
		remove = os.RemoveAll
	}
	if err := remove(request.Path); err != nil {
		return nil, pathFailure(request.Path, err)
	}
	return okMessage, nil
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.Mode().IsRegular():
		return kindFile
	case info.IsDir():
		return kindDir
	case info.Mode()&fs.ModeSymlink != 0:
		return kindLink
	default:
		return kindOther
	}
}

func octalMode(info fs.FileInfo) string {
	system, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprintf("%04o", info.Mode().Perm())
	}
	return fmt.Sprintf("%04o", system.Mode&permissionBits)
}
