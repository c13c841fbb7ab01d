// The parsers that are fuzzed, by the names that the command line takes.

import type { Target } from './target.ts'

const modules: Readonly<Record<string, () => Promise<{ readonly target: Target }>>> = {
  'http1-requests': () => import('./targets/http1-requests.ts'),
  'http1-responses': () => import('./targets/http1-responses.ts'),
  'http2-server': () => import('./targets/http2-server.ts'),
  'http2-client': () => import('./targets/http2-client.ts'),
  hpack: () => import('./targets/hpack.ts'),
  'client-hello': () => import('./targets/client-hello.ts'),
  'proxy-header': () => import('./targets/proxy-header.ts'),
  certificates: () => import('./targets/certificates.ts'),
  'dns-replies': () => import('./targets/dns-replies.ts'),
  websockets: () => import('./targets/websockets.ts'),
  sse: () => import('./targets/sse.ts'),
  'bedrock-frames': () => import('./targets/bedrock-frames.ts'),
  'provider-events': () => import('./targets/provider-events.ts'),
  calls: () => import('./targets/calls.ts'),
  responses: () => import('./targets/responses.ts'),
  guard: () => import('./targets/guard.ts'),
  'json-rpc': () => import('./targets/json-rpc.ts'),
  'json-members': () => import('./targets/json-members.ts'),
  expressions: () => import('./targets/expressions.ts'),
  configuration: () => import('./targets/configuration.ts'),
  forms: () => import('./targets/forms.ts'),
  cookies: () => import('./targets/cookies.ts'),
  fields: () => import('./targets/fields.ts'),
  paths: () => import('./targets/paths.ts'),
  documents: () => import('./targets/documents.ts'),
  queries: () => import('./targets/queries.ts'),
}

export const targetNames: readonly string[] = Object.keys(modules)

export async function targetNamed(name: string): Promise<Target> {
  return (await modules[name]!()).target
}
