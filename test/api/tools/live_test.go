package svcapi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// A generated client, used as its user would: a run that needs an approval, its timeline, and an error.
func TestLive(t *testing.T) {
	keys := map[string]APIKey{"apiKey": {Key: os.Getenv("SVC_API_KEY")}}
	ctx := context.WithValue(context.Background(), ContextAPIKeys, keys)
	configuration := NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("SVC_URL")
	api := NewAPIClient(configuration).RunsApi
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	amount := func(of interface{}, name string) interface{} { return of.(map[string]interface{})[name] }

	input := map[string]interface{}{"order": "A-1042", "amount": 180}
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
