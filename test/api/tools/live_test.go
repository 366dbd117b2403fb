package svcapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A generated client, used as its user would: a run that needs an approval, its timeline, and an error.
func TestLive(t *testing.T) {
	keys := map[string]APIKey{"apiKey": {Key: os.Getenv("SVC_API_KEY")}}
	ctx := context.WithValue(context.Background(), ContextAPIKeys, keys)
	configuration := NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("SVC_URL")
	client := NewAPIClient(configuration)
	api, files := client.RunsApi, client.FilesApi
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	amount := func(of interface{}, name string) interface{} { return of.(map[string]interface{})[name] }

	// Stores a file: presign, PUT, finalize.
	upload := func(text string, most int64) (int, int, Finalized) {
		announced := PresignBody{Filename: "receipt.txt", MediaType: "text/plain", MaxContentLength: most}
		place, _, err := files.PresignFile(ctx).PresignBody(announced).Execute()
		must(err)
		request, err := http.NewRequest("PUT", place.UploadUrl, strings.NewReader(text))
		must(err)
		for name, value := range place.RequiredHeaders {
			request.Header.Set(name, value)
		}
		put, err := http.DefaultClient.Do(request)
		must(err)
		finalize := FinalizeBody{ObjectKey: place.ObjectKey, MaxContentLength: most}
		file, answer, _ := files.FinalizeFile(ctx).FinalizeBody(finalize).Execute()
		return put.StatusCode, answer.StatusCode, file
	}
	put, finalized, _ := upload("more than it said", 4)
	fmt.Printf("File of more bytes than announced: %d, %d\n", put, finalized)
	huge := PresignBody{Filename: "huge.bin", MediaType: "text/plain", MaxContentLength: 1 << 40}
	_, refused, err := files.PresignFile(ctx).PresignBody(huge).Execute()
	var problem ErrorBody
	must(json.Unmarshal(err.(GenericOpenAPIError).Body(), &problem))
	fmt.Printf("File of 1 TiB: %d: %s\n", refused.StatusCode, problem.Code)
	_, _, file := upload("Paid 180 EUR", 12)
	fmt.Printf("File: %d bytes\n", file.SizeBytes)

	receipt := map[string]interface{}{"svcFile": true, "filename": file.Filename, "mediaType": file.MediaType}
	input := map[string]interface{}{"order": "A-1042", "amount": 180, "receipt": receipt}
	started, _, err := api.StartRun(ctx, os.Getenv("SVC_AGENT")).StartRunBody(StartRunBody{Input: &input}).Execute()
	must(err)
	paused, _, err := api.GetRun(ctx, started.RunId).Prefer("wait=10").Execute()
	must(err)
	pending := (*paused.Pending)[0]
	call := pending.Call
	fmt.Printf("%s: %s of %s for %v\n", paused.Status, pending.Kind, call.Name, amount(call.Arguments, "amount"))

	approved := true
	approval := MessageBody{RunId: started.RunId, UserTaskId: pending.UserTaskId, Approved: &approved}
	_, _, err = api.SendRunMessage(ctx, started.RunId).MessageBody(approval).Execute()
	must(err)
	done, _, err := api.GetRun(ctx, started.RunId).Prefer("wait=10").Execute()
	must(err)
	fmt.Printf("%s: %v refunded\n", done.Status, amount(done.Output, "refunded"))

	conversation, _, err := api.GetConversation(ctx, started.RunId).Execute()
	must(err)
	for _, item := range conversation.Items {
		switch step := item.TimelineItemInterface.(type) {
		case *UserMessageItem:
			fmt.Printf("UserMessage: %d file\n", len(*step.Content.Files))
		case *ReasoningItem:
			if step.Content.Text != "" {
				fmt.Printf("Reasoning: %s\n", step.Content.Text)
			}
		case *UserTaskReqItem:
			fmt.Printf("UserTaskReq: %s\n", step.Content.Title)
		case *OutputItem:
			fmt.Printf("Output: %v\n", amount(step.Content.Output, "refunded"))
		}
	}

	_, response, err := api.GetRun(ctx, "00000000-0000-7000-8000-000000000000").Execute()
	var body ErrorBody
	must(json.Unmarshal(err.(GenericOpenAPIError).Body(), &body))
	fmt.Printf("%d: %s\n", response.StatusCode, body.Code)
}
