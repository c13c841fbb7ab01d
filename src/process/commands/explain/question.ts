// The request to explain, built from options.

import { readFileSync } from 'node:fs'
import { valueHoldsOurs } from '../../../tokens/misplaced-tokens.ts'
import type { Input } from '../input.ts'

interface Question {
  readonly host: string
  readonly address: string
  readonly path?: string
  readonly method?: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body?: string
  readonly body_size?: number
  readonly client_certificate?: string
}

/** Returns the body for the API, or a mistake as a sentence. */
export function questionOf(input: Input): { readonly value: Question } | { readonly flaw: string } {
  const {
    host,
    address,
    path,
    method,
    header = [],
    file,
    'body-size': size,
    'client-certificate': pem,
  } = input
  if (host === undefined || address === undefined) return { flaw: 'a request needs --host and --address' }
  if (header.some(isSecret)) return { flaw: secretInArgument }
  if (size !== undefined && !/^\d{1,13}$/.test(size)) return { flaw: '--body-size must be a number of bytes' }
  const headers = headersOf(header)
  if ('flaw' in headers) return headers
  const body = file === undefined ? undefined : textOf(file)
  if (body === null) return { flaw: '--file names a file that cannot be read' }
  const certificate = pem === undefined ? undefined : textOf(pem)
  if (certificate === null) return { flaw: '--client-certificate names a file that cannot be read' }
  return {
    value: {
      host,
      address,
      headers: headers.value,
      ...(path !== undefined && { path }),
      ...(method !== undefined && { method }),
      ...(body !== undefined && { body }),
      ...(size !== undefined && { body_size: Number(size) }),
      ...(certificate !== undefined && { client_certificate: certificate }),
    },
  }
}

const secretInArgument =
  'other users of this machine see arguments: put a header with a token into a file, and name that with --header @PATH'

function isSecret(header: string): boolean {
  return valueHoldsOurs(header.slice(header.indexOf(':') + 1).trim())
}

type Headers = Record<string, string[]>

function headersOf(options: readonly string[]): { readonly value: Headers } | { readonly flaw: string } {
  const headers: Headers = Object.create(null)
  for (const option of options) {
    const text = option.startsWith('@') ? textOf(option.slice(1)) : option
    if (text === null) return { flaw: '--header @PATH names a file that cannot be read' }
    for (const line of text.split(/\r?\n/).filter(line => line !== '')) {
      const colon = line.indexOf(':')
      if (colon < 1) return { flaw: "a header must be written as 'name: value'" }
      const name = line.slice(0, colon)
      ;(headers[name] ??= []).push(line.slice(colon + 1).trim())
    }
  }
  return { value: headers }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
