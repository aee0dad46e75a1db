/** What the API reference uses of Swagger UI. */
declare module '@fastify/swagger-ui/static/swagger-ui-bundle.js' {
  interface Ui {
    readonly preauthorizeApiKey: (scheme: string, token: string) => void
  }

  interface SentRequest {
    readonly headers: Record<string, string>
  }

  interface Options {
    readonly domNode: Element
    readonly spec: unknown
    readonly validatorUrl: null
    readonly deepLinking: boolean
    readonly docExpansion: 'list' | 'none'
    readonly defaultModelsExpandDepth: number
    readonly onComplete: () => void
    readonly requestInterceptor: (request: SentRequest) => SentRequest
    /** Whether the command to copy holds what the interceptor changed. */
    readonly showMutatedRequest: boolean
    readonly plugins: readonly unknown[]
  }

  const swaggerUi: (options: Options) => Ui
  export default swaggerUi
}
