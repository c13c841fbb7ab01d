// Connects commands to the management API, and handles its refusals.

import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { isId } from '../../../base/ids/id.ts'
import { visible } from '../../../base/text/visible.ts'
import { type ApiAccess, ApiUnreachable, ApiClient, type ApiMistake, ApiRefusal } from './api-client.ts'
import { configPath, type Input } from '../input.ts'
import { isUsable } from '../../terminal/config-mistakes.ts'
import { complain, refuse, tell } from '../../terminal/output.ts'
import { urlOf } from '../../ports/urls.ts'

export async function withApi(input: Input, use: (api: ApiClient) => Promise<number>): Promise<number> {
  const access = await accessOf(input)
  if (typeof access === 'string') return complain(access)
  if (access === null) return 2
  try {
    if (access.account !== '') return await use(new ApiClient(access))
    const accounts = await new ApiClient(access).outside.all<ShownAccount>('/accounts')
    if (accounts.length !== 1) return complain(whichOf(accounts))
    return await use(new ApiClient({ ...access, account: accounts[0]!.id }))
  } catch (cause) {
    if (cause instanceof ApiRefusal) tellMistakes(cause.mistakes)
    else if (cause instanceof ApiUnreachable) return refuse(cause.message)
    else throw cause
    return 1
  }
}

/** As `withApi`, for the client that the first argument names. */
export async function withClient(
  input: Input,
  use: (api: ApiClient, path: string, id: string) => Promise<number>,
): Promise<number> {
  const [id = ''] = input.args
  if (!isId(id)) return complain('a client id has 32 hexadecimal digits; gatehouse client list shows them')
  return withApi(input, api => use(api, `${clients}/${id}`, id))
}

export const clients = '/oauth_clients'

const maxTries = 5

/** Changes a resource only in the state just read, and retries; without a body it stays as it is. */
export async function changeAsRead<Thing>(
  api: ApiClient,
  path: string,
  bodyFor: (read: Thing) => unknown,
  method: 'PATCH' | 'PUT' = 'PATCH',
): Promise<{ readonly before: Thing; readonly after: Thing }> {
  for (let tries = 1; ; tries++) {
    const { result: before, etag } = await api.ask<Thing>('GET', path)
    const body = bodyFor(before)
    if (body === undefined) return { before, after: before }
    try {
      const { result: after } = await api.ask<Thing>(method, path, { body, ifMatch: etag })
      return { before, after }
    } catch (cause) {
      if (!(cause instanceof ApiRefusal) || cause.status !== 412 || tries === maxTries) throw cause
    }
  }
}

function tellMistakes(mistakes: readonly ApiMistake[]): void {
  for (const { code, message, pointer } of mistakes) {
    const place = pointer === null ? code : `${code} at ${pointer}`
    tell(`gatehouse: ${visible(message)} (${visible(String(place))})`)
  }
}

interface ShownAccount {
  readonly id: string
  readonly name: string
}

function whichOf(accounts: readonly ShownAccount[]): string {
  const listed = accounts.map(({ id, name }) => `${id} (${name})`).join(', ')
  return accounts.length === 0
    ? 'the API token is for no account'
    : `set the account with --account or GATEHOUSE_ACCOUNT; the API token is for several: ${listed}`
}

/** Its account is empty if none is given: it is then the only one of the token. */
async function accessOf(input: Input): Promise<ApiAccess | string | null> {
  const account = input.account ?? process.env.GATEHOUSE_ACCOUNT ?? ''
  if (account !== '' && !isId(account)) return 'an account id has 32 hexadecimal digits'
  const url = input.url === undefined ? await configuredUrl(input) : baseOf(input.url)
  if (url === null)
    return input.url === undefined ? null : '--url must be a URL such as http://127.0.0.1:8081'
  const token = await tokenOf(input)
  return 'flaw' in token ? token.flaw : { url, account, token: token.value }
}

/** Accepts a URL with the base path of the API, or without. */
function baseOf(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.host === '') return null
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) return null
  return url.href.replace(/\/$/, '').replace(/\/client\/v4$/, '')
}

const defaultUrl = 'http://127.0.0.1:8081'

/** Mistakes in the configuration matter only if the caller named the file. */
async function configuredUrl(input: Input): Promise<string | null> {
  const path = configPath(input)
  // Loaded only here: it is most of the command's code.
  const { loadConfig } = await import('../../../config/load/load.ts')
  const loaded = loadConfig(path)
  if (!('mistakes' in loaded)) return urlOf(loaded.config.admin)
  const isNamed = input.config !== undefined || Boolean(process.env.GATEHOUSE_CONFIG)
  return isNamed && !isUsable(path, loaded) ? null : defaultUrl
}

/** Reads the token from where other users of the machine cannot see it: never from an argument. */
async function tokenOf({ 'token-file': file }: Input): Promise<{ value: string } | { flaw: string }> {
  const token = file === undefined ? process.env.GATEHOUSE_TOKEN : await textOf(file)
  if (token === null) return { flaw: '--token-file names a file that cannot be read' }
  const value = token?.trim() ?? ''
  if (value === '')
    return { flaw: 'set an API token in GATEHOUSE_TOKEN, or name a file that contains one with --token-file' }
  return /^[\x21-\x7e]+$/.test(value) ? { value } : { flaw: 'the API token has invalid characters' }
}

async function textOf(file: string): Promise<string | null> {
  try {
    return file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
