/** The only scope: grants decide what an agent may read. */
export const scope = 'datasets:read'

const mcpPath = '/mcp'

/** The paths of the sign-in at the root of the public origin. */
export const signInPaths = {
  resource: '/.well-known/oauth-protected-resource',
  server: '/.well-known/oauth-authorization-server',
  authorize: '/authorize',
  token: '/token',
  register: '/register',
  revoke: '/revoke',
} as const

/** Whether clients that name this resource mean this server's MCP address (RFC 8707). */
export function isOurResource(resource: string, issuer: string): boolean {
  if (!URL.canParse(resource)) return false
  const { origin, pathname, search, hash } = new URL(resource)
  const isKnown = ['/', mcpPath, `${mcpPath}/`].includes(pathname)
  return origin === issuer && isKnown && search === '' && hash === ''
}

/**
 * The metadata of the MCP address (RFC 9728). Clients compare the resource with the address that
 * their person typed, so `/mcp/` has metadata of its own.
 */
export function resourceMetadata(issuer: string, hasSlash: boolean): object {
  return {
    resource: `${issuer}${mcpPath}${hasSlash ? '/' : ''}`,
    authorization_servers: [issuer],
    scopes_supported: [scope],
    bearer_methods_supported: ['header'],
    resource_documentation: `${issuer}/docs`,
  }
}

/** The metadata of the sign-in itself (RFC 8414). */
export function serverMetadata(issuer: string, takesDocuments: boolean): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}${signInPaths.authorize}`,
    token_endpoint: `${issuer}${signInPaths.token}`,
    registration_endpoint: `${issuer}${signInPaths.register}`,
    revocation_endpoint: `${issuer}${signInPaths.revoke}`,
    scopes_supported: [scope, 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...(takesDocuments && { client_id_metadata_document_supported: true }),
    ui_locales_supported: ['en', 'ru'],
    service_documentation: `${issuer}/docs`,
  }
}

/** The `WWW-Authenticate` of the MCP address: where an agent finds how to sign in. */
export function signInChallenge(issuer: string, hasSlash: boolean): string {
  const metadata = `${issuer}${signInPaths.resource}${mcpPath}${hasSlash ? '/' : ''}`
  return (
    `Bearer realm="datasets", error="invalid_token", scope="${scope}", ` +
    `resource_metadata="${metadata}"`
  )
}
