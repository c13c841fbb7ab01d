// The input of a command: options, arguments, streams and the environment.

import { lstatSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import type { GivenAddresses } from '../../config/resolve/address-overrides.ts'
import type { Guarding } from './ai-gateway/guard.ts'
import type { settings as gatewaySettings } from './ai-gateway/settings.ts'
import type { changes as clientSettings, filters as clientFilters } from './client/settings.ts'
import type { access, addresses, config, Values, yes } from './options.ts'
import type { filters as logFilters } from './log/filters.ts'
import type { Spending } from './spending.ts'

export interface Input
  extends Values<typeof access & typeof addresses & typeof config & typeof yes>,
    Values<typeof clientFilters & typeof clientSettings>,
    Values<typeof gatewaySettings>,
    Guarding,
    Spending,
    Values<typeof logFilters> {
  readonly accept?: string
  readonly permission?: readonly string[]
  readonly 'only-gateway'?: readonly string[]
  readonly 'only-model'?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly role?: readonly string[]
  readonly wait?: boolean
  readonly replace?: boolean
  readonly running?: boolean
  readonly timeout?: string
  readonly host?: string
  readonly path?: string
  readonly method?: string
  readonly header?: readonly string[]
  readonly address?: string
  readonly zone?: string
  readonly gateway?: string
  readonly committed?: boolean
  readonly thresholds?: string
  readonly 'alert-url'?: string
  readonly 'body-size'?: string
  readonly 'client-certificate'?: string
  readonly args: readonly string[]
}

export const configName = 'gatehouse.yaml'

/** The option, else GATEHOUSE_CONFIG, else gatehouse.yaml here, else the program's own. */
export function configPath({ config }: Input): string {
  const given = config ?? process.env.GATEHOUSE_CONFIG
  if (given) return given
  return isInFolder(configName) ? configName : bundledConfig(configName)
}

/** Even a dangling link counts: another file must not take its place. */
function isInFolder(name: string): boolean {
  try {
    return lstatSync(name, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Where this user may not look, it may be there: reading it says so.
    return true
  }
}

export function givenAddresses({ listen, admin }: Input): GivenAddresses {
  return { listen, admin, port: process.env.PORT }
}

export function bundledConfig(name: string): string {
  return join(dirname(findPackageJSON(import.meta.url)!), 'config', name)
}
