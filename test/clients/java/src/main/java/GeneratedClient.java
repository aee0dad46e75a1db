import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import das.ApiClient;
import das.ApiException;
import das.api.EveryApi;
import das.api.FinancialsApi;
import das.api.ProcurementApi;
import das.api.ServiceApi;
import das.model.EveryPage;
import das.model.FinancialsQuestion;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.openapitools.jackson.nullable.JsonNullable;

/**
 * Reads every row of three datasets with the client that openapi-generator made, compares each cell
 * with the text that the server sent, and prints what it found as JSON.
 */
public class GeneratedClient {
  static final ObjectMapper plain = new ObjectMapper();
  /** Keeps each digit. */
  static final ObjectMapper exact = new ObjectMapper()
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
      .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS);

  /** What a walk over one dataset found. */
  static class Found {
    public int rows;
    public int cells;
    public final List<String> wrong = new ArrayList<>();
    public final Map<String, String> types = new TreeMap<>();
  }

  record Page(List<?> rows, String next) {}

  interface Read {
    Page page(String cursor) throws Exception;
  }

  final String base;
  final String token = System.getenv("DAS_TOKEN");
  final ApiClient client = new ApiClient();
  final HttpClient http = HttpClient.newHttpClient();

  GeneratedClient(String base) {
    this.base = base;
    client.updateBaseUri(base);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
  }

  public static void main(String[] arguments) throws Exception {
    var program = new GeneratedClient(arguments[0]);
    System.out.println(
        plain.writeValueAsString(Map.of("walks", program.walks(), "asked", program.asked())));
  }

  Map<String, Found> walks() throws Exception {
    var every = new EveryApi(client);
    var financials = new FinancialsApi(client);
    var procurement = new ProcurementApi(client);
    return Map.of(
        "every",
        walk("/v1/every?", cursor -> {
          var page = every.everyRows(
              EveryApi.APIEveryRowsRequest.newBuilder().cursor(cursor).build());
          return new Page(page.getData(), page.getNextCursor());
        }),
        "financials",
        walk("/v1/financials?year=gte.0&limit=1000", cursor -> {
          var page = financials.financialsRows(FinancialsApi.APIFinancialsRowsRequest.newBuilder()
              .year(List.of("gte.0")).limit(1000).cursor(cursor).build());
          return new Page(page.getData(), page.getNextCursor());
        }),
        "procurement",
        walk("/v1/procurement?", cursor -> {
          var page = procurement.procurementRows(
              ProcurementApi.APIProcurementRowsRequest.newBuilder().cursor(cursor).build());
          return new Page(page.getData(), page.getNextCursor());
        }));
  }

  /** Asks for what is not rows: each answer by its type. */
  Map<String, Object> asked() throws Exception {
    var service = new ServiceApi(client);
    var financials = new FinancialsApi(client);
    var mapper = client.getObjectMapper();
    var asked = new HashMap<String, Object>();
    var question = mapper.readValue(
        "{\"filters\": [{\"column\": \"2110\", \"op\": \"eq\", \"value\": 3046943699}]}",
        FinancialsQuestion.class);
    asked.put("revenue", financials.financialsQuery(question).getData().get(0).get2110());
    asked.put("columns", financials.financialsSchema(null, null, null).getColumns().size());
    asked.put("limit", service.account().getDatasets().get(0).getRows().getLimit());
    var groups = financials.financialsAggregate(
        FinancialsApi.APIFinancialsAggregateRequest.newBuilder()
            .group(List.of("year")).measures(List.of("count")).build());
    asked.put("groups", groups.getGroups());
    asked.put("rows", groups.getRows());
    asked.put("lists", service.datasets().getData().size());
    try {
      new EveryApi(client).everyRows(
          EveryApi.APIEveryRowsRequest.newBuilder().tiny(List.of("like.1*")).build());
    } catch (ApiException refusal) {
      var error = mapper.readValue(refusal.getResponseBody(), das.model.Error.class);
      asked.put("refusal", error.getError());
    }
    // What a later version may answer.
    var later = "{\"data\": [{\"new\": 1, \"tiny\": 2}], \"next_cursor\": null, \"more\": true}";
    asked.put("later", mapper.readValue(later, EveryPage.class).getData().get(0).getTiny());
    return asked;
  }

  /** Compares the rows of each page with the same page as the server sends it. */
  Found walk(String path, Read read) throws Exception {
    var found = new Found();
    String cursor = null;
    do {
      var sent = exact.readTree(textOf(path + (cursor == null ? "" : "&cursor=" + cursor)));
      var page = read.page(cursor);
      for (var index = 0; index < sent.get("data").size(); index++) {
        compare(found, sent.get("data").get(index), page.rows().get(index));
      }
      cursor = page.next();
    } while (cursor != null);
    return found;
  }

  String textOf(String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(base + path))
        .header("Authorization", "Bearer " + token).build();
    return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  void compare(Found found, JsonNode sent, Object row) throws Exception {
    found.rows++;
    var unread = new ArrayList<String>();
    sent.fieldNames().forEachRemaining(unread::add);
    for (var property : row.getClass().getMethods()) {
      var named = property.getAnnotation(JsonProperty.class);
      if (named == null || property.getParameterCount() > 0) continue;
      var name = named.value();
      unread.remove(name);
      var value = property.invoke(row);
      if (value instanceof JsonNullable<?> nullable) value = nullable.orElse(null);
      found.types.put(name, typeOf(property));
      found.cells++;
      var cell = sent.get(name);
      if (cell == null || !isSame(cell, value)) {
        found.wrong.add(name + ": " + cell + " sent, " + value + " read");
      }
    }
    for (var name : unread) found.wrong.add(name + ": not in the type");
  }

  static String typeOf(Method property) {
    var type = property.getGenericReturnType();
    if (type instanceof ParameterizedType nullable) type = nullable.getActualTypeArguments()[0];
    return ((Class<?>) type).getSimpleName();
  }

  /** Whether a value is what was sent: numbers as their text says, doubles the nearest one. */
  static boolean isSame(JsonNode sent, Object value) throws Exception {
    if (value == null || sent.isNull()) return value == null && sent.isNull();
    var text = sent.asText();
    if (value instanceof Double number) return Double.parseDouble(text) == number;
    if (value instanceof Float number) return Float.parseFloat(text) == number;
    if (value instanceof OffsetDateTime at) return OffsetDateTime.parse(text).isEqual(at);
    if (value instanceof Integer || value instanceof Long || value instanceof Boolean
        || value instanceof LocalDate || value instanceof UUID) return value.toString().equals(text);
    if (value instanceof String) return sent.isTextual() && value.equals(text);
    return plain.readTree(sent.toString()).equals(plain.valueToTree(value));
  }
}
