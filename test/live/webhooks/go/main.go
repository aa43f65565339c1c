// Verifies messages by the public Go library of Standard Webhooks: reads them from standard input, a JSON object a line,
// and prints a line for each: "accepted", or why the library rejects it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type message struct {
	Key     string            `json:"key"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
}

func verdict(line []byte) string {
	var received message
	if err := json.Unmarshal(line, &received); err != nil {
		panic(err)
	}
	webhook, err := standardwebhooks.NewWebhook(received.Key)
	if err != nil {
		return err.Error()
	}
	headers := http.Header{}
	for name, value := range received.Headers {
		headers.Set(name, value)
	}
	if err := webhook.Verify([]byte(received.Body), headers); err != nil {
		return err.Error()
	}
	return "accepted"
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Println(verdict(lines.Bytes()))
	}
}
