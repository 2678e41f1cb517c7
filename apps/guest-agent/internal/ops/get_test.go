package ops

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"inquest.dev/guest-agent/internal/frames"
)

// fetch reads the data of a get and checks its end.
func fetch(t *testing.T, properties message) []byte {
	t.Helper()
	properties["op"] = "get"
	client := request(t, properties)
	client.answer("ok")
	data := []byte{}
	for {
		frame := client.frame()
		if frame.Kind == frames.KindEnd {
			break
		}
		if frame.Kind != frames.KindDataFromGuest {
			t.Fatalf("a frame of kind 0x%02x: %s", byte(frame.Kind), frame.Payload)
		}
		data = append(data, frame.Payload...)
	}
	digest := sha256.Sum256(data)
	if end := client.answer("end"); end["bytes"] != float64(len(data)) || end["sha256"] != hex.EncodeToString(digest[:]) {
		t.Fatalf("got %v for %d bytes", end, len(data))
	}
	return data
}

func TestGetSendsAFileWithItsDigest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, strings.Repeat("0123456789", 200_000))
	if got := fetch(t, message{"path": file, "kind": "file"}); string(got) != content(t, file) {
		t.Fatalf("got %d bytes", len(got))
	}
}

func TestGetOfATreeFollowsNoLinkAndSkipsPipesAndWhatIsExcluded(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/keep/file", "text")
	write(t, root+"/keep/debug.log", "x")
	write(t, root+"/node_modules/package/index.js", "x")
	write(t, root+"/top.log", "x")
	if err := os.Symlink("/etc", root+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(root+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	data := fetch(t, message{"path": root, "kind": "tar", "exclude": []string{"node_modules", "**/*.log"}})
	archive := tar.NewReader(bytes.NewReader(data))
	got := []string{}
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, header.Name+header.Linkname)
	}
	if strings.Join(got, " ") != "keep/ keep/file link/etc" {
		t.Fatalf("got %q", got)
	}
}

func TestAFetchedTreeCanBePutBack(t *testing.T) {
	root, copied := t.TempDir(), t.TempDir()
	long := strings.Repeat("long-", 40)
	write(t, root+"/"+long+"/"+long+"/ünï\ncode", "text")
	client := request(t, message{"op": "put", "dest": copied, "kind": "tar"})
	client.data(fetch(t, message{"path": root, "kind": "tar"}))
	client.answer("ok")
	if content(t, copied+"/"+long+"/"+long+"/ünï\ncode") != "text" {
		t.Fatal("the file changed")
	}
}

func TestGetOfASingleFileAsTarHasOneEntry(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/file", "text")
	archive := tar.NewReader(bytes.NewReader(fetch(t, message{"path": root + "/file", "kind": "tar"})))
	header, err := archive.Next()
	if err != nil || header.Name != "file" || header.Size != 4 {
		t.Fatalf("got %v (%v)", header, err)
	}
}
