// Compiles the settings of one zone; those of the management API precede those of the file.

import type { AccessConfig } from '../../config/model/access-config.ts'
import type { Config, ZoneConfig } from '../../config/model/config.ts'
import type { ErrorPages } from '../../config/model/custom-errors-config.ts'
import { type CustomErrorFailure, CustomErrors, type CustomLayer } from '../../errors/custom/custom-errors.ts'
import { AccessPolicy, type AccessParts } from '../../access/policy.ts'
import type { KnownZone } from '../../zones/known-zones.ts'

export interface ZoneDirectory {
  of(zone: string): KnownZone | null
}

interface ZoneSettingsParts {
  readonly account: Config['errors']
  readonly sources: AccessParts
  readonly directory: ZoneDirectory | null
  readonly failed: (what: CustomErrorFailure) => void
}

/** Or why the zone cannot be served: its API-managed settings are unknown, or failed to compile. */
export interface ZoneSettings {
  readonly access: AccessPolicy
  readonly errors: CustomErrors
  readonly fault: 'host_lookup_failed' | 'zone_settings_failed' | null
  readonly flaw: string | null
  readonly from: Pick<ZoneSettingsParts, 'account' | 'sources'> & { readonly settings: KnownZone | null }
}

/** Reuses those of `before` if nothing has changed; throws if the settings of the file alone fail. */
export function zoneSettings(
  zone: ZoneConfig,
  parts: ZoneSettingsParts,
  before: ZoneSettings | undefined,
): ZoneSettings {
  const { account, directory, sources } = parts
  const settings = directory === null ? nothingSet : directory.of(zone.name)
  const from = before?.from
  if (from?.settings === settings && from.account === account && from.sources === sources) return before!
  return { ...compile(zone, settings, parts), from: { settings: settings, account, sources } }
}

function compile(
  zone: ZoneConfig,
  settings: KnownZone | null,
  { account, failed, sources }: ZoneSettingsParts,
): Omit<ZoneSettings, 'from'> {
  const file = {
    access: new AccessPolicy(zone.access, zone.name, sources),
    errors: zoneErrors(zone, null, account, failed),
  }
  if (settings === null) return { ...file, fault: 'host_lookup_failed', flaw: null }
  if (settings === nothingSet) return { ...file, fault: null, flaw: null }
  try {
    const access = new AccessPolicy(
      joinedAccess(zone.access, settings),
      zone.name,
      sources,
      zone.access.rules,
    )
    return { access, errors: zoneErrors(zone, settings, account, failed), fault: null, flaw: null }
  } catch (cause) {
    return { ...file, fault: 'zone_settings_failed', flaw: (cause as Error).message }
  }
}

/** Compiles error rules and pages: of the API, of the file for the zone, and for all zones. */
export function zoneErrors(
  { errors }: ZoneConfig,
  settings: KnownZone | null,
  account: CustomLayer,
  failed: (what: CustomErrorFailure) => void = () => {},
): CustomErrors {
  const { errorRules, errorPages } = settings ?? nothingSet
  const pages = Object.keys(errorPages).length === 0 ? errors.pages : mergedPages(errors.pages, errorPages)
  const layers = [{ rules: errorRules, pages }, { rules: errors.rules, pages: noPages }, account]
  return new CustomErrors(layers, { failed })
}

/** The rules of the API precede those of the file, except for its legal blocks, which no token can lift. */
function joinedAccess(access: AccessConfig, { accessRules }: KnownZone): AccessConfig {
  const legal = access.rules.filter(({ action }) => action === 'legal')
  const others = access.rules.filter(({ action }) => action !== 'legal')
  return { ...access, rules: [...legal, ...accessRules, ...others] }
}

/** The same object for the same pages, so that each is compiled once. */
function mergedPages(pages: ErrorPages, errorPages: ErrorPages): ErrorPages {
  const settings = merged.get(errorPages)
  if (settings?.below === pages) return settings.result
  const result = { ...pages, ...errorPages }
  merged.set(errorPages, { below: pages, result })
  return result
}

const merged = new WeakMap<ErrorPages, { readonly below: ErrorPages; readonly result: ErrorPages }>()
const noPages: ErrorPages = {}
const nothingSet: KnownZone = { errorRules: [], accessRules: [], errorPages: {} }
