// A call of the API as a shell command.

import type { Operation } from './operations.ts'

const sidePort = 'http://127.0.0.1:8081'

/** Returns a command with the first example as its body; `{account_id}` becomes `$ACCOUNT`. */
export function curlOf({ method, path, token, body, good }: Operation): string {
  const url = sidePort + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`)
  const [example] = body?.examples ?? []
  const isText = body !== null && !body.type.startsWith('application/json')
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}"`,
    token !== 'no' && '-H "Authorization: Bearer $TOKEN"',
    body !== null && `-H "Content-Type: ${body.type}"`,
    example !== undefined &&
      `--data-raw ${quoted(isText ? String(example.value) : JSON.stringify(example.value, null, 2))}`,
    good.content.some(({ type }) => type === 'application/x-ndjson') && '-N',
  ]
    .filter(part => part !== false)
    .join(' \\\n  ')
}

export function variableOf(segment: string): string {
  return segment.replace(/^account_id$/, 'account').toUpperCase()
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
