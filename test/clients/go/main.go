// Reads every row of three datasets with the client that oapi-codegen generated, compares each cell
// with the text that the server sent, and prints what it found as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"das.example/client/das"
	openapi_types "github.com/oapi-codegen/runtime/types"
)

// What a walk over one dataset found.
type found struct {
	Rows  int               `json:"rows"`
	Cells int               `json:"cells"`
	Wrong []string          `json:"wrong"`
	Types map[string]string `json:"types"`
}

func main() {
	base, token := os.Args[1], os.Getenv("DAS_TOKEN")
	client, err := das.NewClientWithResponses(base, das.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	check(err)
	asked, err := ask(client)
	check(err)
	walks := map[string]*found{
		"every": walk(func(cursor *string) ([]byte, any, *string) {
			page, err := client.EveryRowsWithResponse(context.Background(), &das.EveryRowsParams{Cursor: cursor})
			check(err)
			return page.Body, page.JSON200.Data, page.JSON200.NextCursor
		}),
		"financials": walk(func(cursor *string) ([]byte, any, *string) {
			limit := das.FinancialsLimit(1000)
			page, err := client.FinancialsRowsWithResponse(context.Background(), &das.FinancialsRowsParams{
				Year: &[]string{"gte.0"}, Limit: &limit, Cursor: cursor})
			check(err)
			return page.Body, page.JSON200.Data, page.JSON200.NextCursor
		}),
		"procurement": walk(func(cursor *string) ([]byte, any, *string) {
			page, err := client.ProcurementRowsWithResponse(context.Background(), &das.ProcurementRowsParams{Cursor: cursor})
			check(err)
			return page.Body, page.JSON200.Data, page.JSON200.NextCursor
		}),
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"walks": walks, "asked": asked}))
}

// Asks for what is not rows: each answer by its type.
func ask(client *das.ClientWithResponses) (map[string]any, error) {
	ctx := context.Background()
	question := das.FinancialsQuestion{}
	if err := json.Unmarshal([]byte(`{"filters": [{"column": "2110", "op": "eq", "value": 3046943699}]}`), &question); err != nil {
		return nil, err
	}
	rows, err := client.FinancialsQueryWithResponse(ctx, question)
	if err != nil {
		return nil, err
	}
	schema, err := client.FinancialsSchemaWithResponse(ctx, &das.FinancialsSchemaParams{})
	if err != nil {
		return nil, err
	}
	account, err := client.AccountWithResponse(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := client.FinancialsAggregateWithResponse(ctx, &das.FinancialsAggregateParams{
		Group: &das.FinancialsAggregateGroup{"year"}, Measures: das.FinancialsAggregateMeasures{"count"}})
	if err != nil {
		return nil, err
	}
	list, err := client.DatasetsWithResponse(ctx)
	if err != nil {
		return nil, err
	}
	refused, err := client.EveryRowsWithResponse(ctx, &das.EveryRowsParams{Tiny: &[]string{"like.1*"}})
	if err != nil {
		return nil, err
	}
	// What a later version may answer.
	later := das.EveryPage{}
	text := `{"data": [{"new": 1, "tiny": 2}], "next_cursor": null, "more": true}`
	if err := json.Unmarshal([]byte(text), &later); err != nil {
		return nil, err
	}
	return map[string]any{
		"revenue": rows.JSON200.Data[0].N2110,
		"columns": len(schema.JSON200.Columns),
		"limit":   account.JSON200.Datasets[0].Rows.Limit,
		"groups":  groups.JSON200.Groups,
		"rows":    groups.JSON200.Rows,
		"lists":   len(list.JSON200.Data),
		"refusal": refused.JSON400.Error,
		"later":   later.Data[0].Tiny,
	}, nil
}

// Compares the rows of each page with the numbers and texts of its body.
func walk(read func(cursor *string) (body []byte, rows any, next *string)) *found {
	result := &found{Wrong: []string{}, Types: map[string]string{}}
	for cursor := (*string)(nil); ; {
		body, rows, next := read(cursor)
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		sent := struct{ Data []map[string]any }{}
		check(decoder.Decode(&sent))
		got := reflect.ValueOf(rows)
		for index, cells := range sent.Data {
			result.compare(cells, got.Index(index))
		}
		if cursor = next; cursor == nil {
			return result
		}
	}
}

func (result *found) compare(cells map[string]any, row reflect.Value) {
	result.Rows++
	for index := range row.NumField() {
		name, _, _ := strings.Cut(row.Type().Field(index).Tag.Get("json"), ",")
		result.Types[name] = row.Type().Field(index).Type.String()
		cell, isSent := cells[name]
		delete(cells, name)
		result.Cells++
		if !isSent || !isSame(cell, row.Field(index)) {
			result.Wrong = append(result.Wrong, fmt.Sprintf("%s: %v sent, %#v read", name, cell, row.Field(index)))
		}
	}
	for name := range cells {
		result.Wrong = append(result.Wrong, name+": not in the type")
	}
}

// Whether a value is what was sent: numbers as their text says, doubles the nearest one.
func isSame(sent any, field reflect.Value) bool {
	if field.IsNil() || sent == nil {
		return field.IsNil() && sent == nil
	}
	text := fmt.Sprint(sent)
	switch value := field.Elem().Interface().(type) {
	case bool:
		return value == sent
	case string:
		return value == sent
	case int32:
		return strconv.FormatInt(int64(value), 10) == text
	case int64:
		return strconv.FormatInt(value, 10) == text
	case float32:
		near, err := strconv.ParseFloat(text, 32)
		return err == nil && float32(near) == value
	case float64:
		near, err := strconv.ParseFloat(text, 64)
		return err == nil && near == value
	case openapi_types.Date:
		return value.String() == text
	case time.Time:
		at, err := time.Parse(time.RFC3339Nano, text)
		return err == nil && at.Equal(value)
	case openapi_types.UUID:
		return value.String() == text
	case []byte:
		return base64.StdEncoding.EncodeToString(value) == text
	case map[string]any, []any:
		one, _ := json.Marshal(sent)
		other, _ := json.Marshal(value)
		return bytes.Equal(one, other)
	}
	return false
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
