import com.fasterxml.jackson.databind.ObjectMapper;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Lists and calls every tool through the MCP client of Java, and prints the answers as JSON. */
public class ToolsClient {
  static final List<Map<String, Object>> filters =
      List.of(Map.of("column", "year", "op", "in", "value", List.of(2023, 2024)));
  static final Map<String, Map<String, Object>> calls = Map.of(
      "list_resources", Map.of(),
      "describe_resource", Map.of("resource", "financials", "columns", List.of("inn", "2110")),
      "query", Map.of("resource", "financials", "filters", filters, "select", List.of("inn")),
      "aggregate", Map.of("resource", "financials", "measures", List.of("count")),
      "top", Map.of("resource", "financials", "by", "-2110", "select", List.of("inn")),
      "find", Map.of("q", "лукойл"),
      "changes", Map.of("resource", "financials"),
      "search", Map.of("query", "лукойл"),
      "fetch", Map.of("id", "financials/7708004767"));

  public static void main(String[] arguments) throws Exception {
    var mapper = new ObjectMapper();
    var token = System.getenv("DAS_TOKEN");
    var transport = HttpClientStreamableHttpTransport.builder(arguments[0])
        .customizeClient(client -> client.connectTimeout(Duration.ofSeconds(60)))
        .httpRequestCustomizer((request, method, uri, body, context) ->
            request.header("Authorization", "Bearer " + token))
        .build();
    var answers = new TreeMap<String, Object>();
    try (var client = McpClient.sync(transport).requestTimeout(Duration.ofMinutes(2)).build()) {
      client.initialize();
      for (var tool : client.listTools().tools()) {
        var result = client.callTool(new CallToolRequest(tool.name(), calls.get(tool.name())));
        var answer = new HashMap<String, Object>();
        answer.put("described", !tool.description().isEmpty());
        answer.put("failed", Boolean.TRUE.equals(result.isError()));
        answer.put("structured", result.structuredContent());
        answer.put("text", mapper.readTree(((TextContent) result.content().get(0)).text()));
        answers.put(tool.name(), answer);
      }
    }
    System.out.println(mapper.writeValueAsString(answers));
    System.exit(0);
  }
}
