// Code that signs a person in with a client, for three libraries, with its id in place. Secrets come from the
// environment.

import { type Client, isConfidential } from './client.ts'

interface Snippet {
  readonly title: string
  readonly code: string
}

/** Returns the code for a client of an authorization server, with the first redirect URI. */
export function snippetsFor(issuer: string, client: Client): readonly Snippet[] {
  const facts = {
    issuer: text(issuer),
    id: text(client.client_id),
    redirect: text(client.redirect_uris[0]!),
    scope: text(client.scopes.join(' ')),
    isLocal: issuer.startsWith('http:'),
  }
  return [
    { title: 'Node, with openid-client', code: openidClient(facts, client) },
    { title: 'Node and browsers, with oauth4webapi', code: oauth4webapi(facts, client) },
    { title: 'Python, with Authlib', code: authlib(facts, client) },
  ]
}

interface Facts {
  readonly issuer: string
  readonly id: string
  readonly redirect: string
  readonly scope: string
  readonly isLocal: boolean
}

function openidClient({ issuer, id, redirect, scope, isLocal }: Facts, client: Client): string {
  const secret = isConfidential(client) ? 'process.env.CLIENT_SECRET' : 'undefined'
  const method = {
    client_secret_basic: 'client.ClientSecretBasic(process.env.CLIENT_SECRET)',
    client_secret_post: 'client.ClientSecretPost(process.env.CLIENT_SECRET)',
    none: 'client.None()',
  }[client.token_endpoint_auth_method]
  const local = isLocal ? ', { execute: [client.allowInsecureRequests] }' : ''
  return `import * as client from 'openid-client'

const config = await client.discovery(
  new URL(${issuer}), ${id}, ${secret}, ${method}${local},
)
const verifier = client.randomPKCECodeVerifier()
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: ${redirect},
  scope: ${scope},
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})
// Send the browser to url. When it comes back, at currentUrl:
const tokens = await client.authorizationCodeGrant(config, currentUrl, {
  pkceCodeVerifier: verifier,
})
`
}

function oauth4webapi({ issuer, id, redirect, scope, isLocal }: Facts, client: Client): string {
  const method = {
    client_secret_basic: 'oauth.ClientSecretBasic(process.env.CLIENT_SECRET)',
    client_secret_post: 'oauth.ClientSecretPost(process.env.CLIENT_SECRET)',
    none: 'oauth.None()',
  }[client.token_endpoint_auth_method]
  const local = isLocal ? '{ [oauth.allowInsecureRequests]: true }' : '{}'
  return `import * as oauth from 'oauth4webapi'

const options = ${local}
const issuer = new URL(${issuer})
const server = await oauth.processDiscoveryResponse(
  issuer, await oauth.discoveryRequest(issuer, options),
)
const client = { client_id: ${id} }
const verifier = oauth.generateRandomCodeVerifier()
const url = new URL(server.authorization_endpoint)
url.search = new URLSearchParams({
  client_id: client.client_id,
  redirect_uri: ${redirect},
  response_type: 'code',
  scope: ${scope},
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})
// Send the browser to url. When it comes back, at currentUrl:
const parameters = oauth.validateAuthResponse(server, client, currentUrl)
const response = await oauth.authorizationCodeGrantRequest(
  server, client, ${method}, parameters, ${redirect}, verifier, options,
)
const tokens = await oauth.processAuthorizationCodeResponse(server, client, response)
`
}

function authlib({ issuer, id, redirect, scope }: Facts, client: Client): string {
  const secret = isConfidential(client) ? "\n    client_secret=os.environ['CLIENT_SECRET']," : ''
  return `${isConfidential(client) ? 'import os\n' : ''}from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

issuer = ${issuer}.rstrip('/')
app = OAuth2Session(
    ${id},${secret}
    token_endpoint_auth_method='${client.token_endpoint_auth_method}',
    scope=${scope},
    redirect_uri=${redirect},
    code_challenge_method='S256',
)
verifier = generate_token(64)
url, state = app.create_authorization_url(issuer + '/oauth2/auth', code_verifier=verifier)
# Send the browser to url. When it comes back, at current_url:
tokens = app.fetch_token(
    issuer + '/oauth2/token', authorization_response=current_url, code_verifier=verifier,
)
`
}

function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
