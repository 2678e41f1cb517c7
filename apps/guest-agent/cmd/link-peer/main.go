// Command link-peer is for tests of the guest link only: a guest that does at its end of the link whatever the test on
// the host asks for. It boots as the agent does, with the agent's own code below the streams, and serves both links that
// a machine may have.
package main

import (
	"errors"
	"log"
	"os"
	"time"

	"inquest.dev/guest-agent/internal/initramfs"
	"inquest.dev/guest-agent/internal/mux"
)

const (
	// portTimeout bounds the wait for the virtio-serial port: the kernel makes it some time after its driver is loaded.
	portTimeout  = 10 * time.Second
	portInterval = 10 * time.Millisecond
)

func main() {
	if os.Args[0] != initramfs.ServiceName {
		initramfs.Run()
		return
	}
	go serve(newVsockLink())
	port, err := awaitPort()
	if err != nil {
		log.Printf("link-peer: %v", err)
		select {}
	}
	link := newMuxLink(port)
	go serve(link)
	log.Fatalf("link-peer: %v", mux.Serve(port, link.handlers))
}

func awaitPort() (*mux.Port, error) {
	for end := time.Now().Add(portTimeout); ; time.Sleep(portInterval) {
		port, err := mux.OpenPort()
		if !errors.Is(err, mux.ErrNoPort) || time.Now().After(end) {
			return port, err
		}
	}
}
