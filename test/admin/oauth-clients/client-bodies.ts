// Bodies of OAuth clients for the tests of this folder; what a test says of one replaces members.

export function bodyOfClient(more: object = {}) {
  return {
    client_name: 'My app',
    grant_types: ['authorization_code'],
    redirect_uris: ['https://app.example.com/back'],
    response_types: ['code'],
    scopes: ['ai_gateway.run'],
    token_endpoint_auth_method: 'client_secret_basic',
    ...more,
  }
}
