// The input of a command: options, arguments, streams and the environment.

import { lstatSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import type { GivenAddresses } from '../../config/resolve/address-overrides.ts'

export interface Input {
  readonly config?: string
  readonly listen?: string
  readonly admin?: string
  readonly data?: string
  readonly accept?: string
  readonly account?: string
  readonly name?: string
  readonly permission?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly url?: string
  readonly 'token-file'?: string
  readonly json?: boolean
  readonly file?: string
  readonly 'redirect-uri'?: readonly string[]
  readonly scope?: readonly string[]
  readonly 'auth-method'?: string
  readonly refresh?: boolean
  readonly 'no-refresh'?: boolean
  readonly clear?: readonly string[]
  readonly 'client-uri'?: string
  readonly 'logo-uri'?: string
  readonly 'policy-uri'?: string
  readonly 'tos-uri'?: string
  readonly 'post-logout-uri'?: readonly string[]
  readonly origin?: readonly string[]
  readonly visibility?: string
  readonly role?: readonly string[]
  readonly status?: string
  readonly failed?: boolean
  readonly wait?: boolean
  readonly yes?: boolean
  readonly replace?: boolean
  readonly running?: boolean
  readonly timeout?: string
  readonly host?: string
  readonly path?: string
  readonly method?: string
  readonly header?: readonly string[]
  readonly address?: string
  readonly zone?: string
  readonly 'body-size'?: string
  readonly 'client-certificate'?: string
  readonly authentication?: string
  readonly 'collect-logs'?: string
  readonly 'log-management'?: string
  readonly 'log-management-strategy'?: string
  readonly 'rate-limiting-limit'?: string
  readonly 'rate-limiting-interval'?: string
  readonly 'rate-limiting-technique'?: string
  readonly 'rate-limiting-key'?: string
  readonly 'retry-max-attempts'?: string
  readonly 'retry-delay'?: string
  readonly 'retry-backoff'?: string
  readonly 'on-abandon'?: string
  readonly 'stream-usage'?: string
  readonly last?: string
  readonly provider?: string
  readonly model?: string
  readonly 'token-id'?: string
  readonly where?: readonly string[]
  readonly args: readonly string[]
}

export const configName = 'gatehouse.yaml'

/** The option, else GATEHOUSE_CONFIG, else gatehouse.yaml here, else the program's own. */
export function configPath({ config }: Input): string {
  return (
    config ??
    process.env.GATEHOUSE_CONFIG ??
    (isInFolder(configName) ? configName : bundledConfig(configName))
  )
}

/** Even a dangling link counts: another file must not take its place. */
function isInFolder(name: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false }) !== undefined
}

export function givenAddresses({ listen, admin }: Input): GivenAddresses {
  return { listen, admin, port: process.env.PORT }
}

export function bundledConfig(name: string): string {
  return join(dirname(findPackageJSON(import.meta.url)!), 'config', name)
}
