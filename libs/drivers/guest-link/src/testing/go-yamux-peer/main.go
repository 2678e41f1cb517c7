// Command go-yamux-peer serves hashicorp/yamux over a Unix socket, so that the TypeScript side is tested against the
// implementation that the guest agent uses.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"io/ioutil"
	"log"
	"net"
	"os"

	"github.com/hashicorp/yamux"
)

const (
	portEcho     = 1 // sends back what comes in
	portSource   = 2 // sends sourceBytes bytes of a known pattern
	portDigest   = 3 // reads to the end, then sends the sha256 of it in hex
	portStall    = 4 // never reads
	portCallBack = 5 // opens a stream to port 7000 of the other side and joins both

	sourceBytes = 64 << 20
)

func main() {
	listener, err := net.Listen("unix", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false
	config.LogOutput = ioutil.Discard
	session, err := yamux.Server(conn, config)
	if err != nil {
		log.Fatal(err)
	}
	for {
		stream, err := session.Accept()
		if err != nil {
			return
		}
		go answer(session, stream)
	}
}

func answer(session *yamux.Session, stream net.Conn) {
	reader := bufio.NewReader(stream)
	var port int
	if _, err := fmt.Fscanf(reader, "CONNECT %d\n", &port); err != nil {
		stream.Close()
		return
	}
	fmt.Fprintf(stream, "OK %d\n", port)
	if port == portStall {
		return
	}
	defer stream.Close()
	switch port {
	case portEcho:
		io.Copy(stream, reader)
	case portSource:
		writePattern(stream)
	case portDigest:
		digest := sha256.New()
		io.Copy(digest, reader)
		fmt.Fprintf(stream, "%x", digest.Sum(nil))
	case portCallBack:
		callBack(session, stream)
	}
}

func writePattern(w io.Writer) {
	block := make([]byte, 1<<20)
	for sent := 0; sent < sourceBytes; sent += len(block) {
		for i := range block {
			block[i] = byte((sent+i)>>8 ^ i*7)
		}
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func callBack(session *yamux.Session, stream net.Conn) {
	back, err := session.Open()
	if err != nil {
		return
	}
	defer back.Close()
	fmt.Fprint(back, "CONNECT 7000\n")
	reader := bufio.NewReader(back)
	if _, err := reader.ReadString('\n'); err != nil {
		return
	}
	io.Copy(stream, reader)
}
