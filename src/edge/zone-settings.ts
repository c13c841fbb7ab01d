// What the file and the management API say of one zone, compiled together: the API's word comes first, since it is the later one.

import type { AccessConfig } from '../config/access-config.ts'
import type { Config, ZoneConfig } from '../config/config.ts'
import type { ErrorPages } from '../config/custom-errors-config.ts'
import { type CustomErrorFailure, CustomErrors, type CustomLayer } from '../errors/custom/custom-errors.ts'
import { AccessPolicy, type AccessParts } from '../access/policy.ts'
import type { KnownZone } from '../zones/known-zones.ts'

/** What the API has set, as far as it is known. */
export interface ZoneDirectory {
  /** Null while nothing is known of any zone. */
  of(zone: string): KnownZone | null
}

interface ZoneSettingsParts {
  readonly account: Config['errors']
  readonly sources: AccessParts
  /** Null where no API sets anything. */
  readonly directory: ZoneDirectory | null
  /** Hears of a rule or page of errors that is broken. */
  readonly failed: (what: CustomErrorFailure) => void
}

/** The compiled settings, or why the zone can't be served: what the API has set is not known, so that rules may be missing, or does not build. */
export interface ZoneSettings {
  readonly access: AccessPolicy
  readonly errors: CustomErrors
  readonly fault: 'host_lookup_failed' | 'zone_settings_failed' | null
  /** Why what the API has set does not build; null where it does. */
  readonly flaw: string | null
}

/** Compiles what holds for a zone; throws where the file alone does not build. */
export function compileZoneSettings(zone: ZoneConfig, parts: ZoneSettingsParts): ZoneSettings {
  const { account, directory, failed, sources } = parts
  const known = directory === null ? nothingSet : directory.of(zone.name)
  const file = {
    access: new AccessPolicy(zone.access, zone.name, sources),
    errors: zoneErrors(zone, null, account, failed),
  }
  if (known === null) return { ...file, fault: 'host_lookup_failed', flaw: null }
  if (known === nothingSet) return { ...file, fault: null, flaw: null }
  try {
    const access = new AccessPolicy(joined(zone.access, known), zone.name, sources, zone.access.rules)
    return { access, errors: zoneErrors(zone, known, account, failed), fault: null, flaw: null }
  } catch (cause) {
    return { ...file, fault: 'zone_settings_failed', flaw: (cause as Error).message }
  }
}

/** Compiles what is said of the errors of a zone: by the API, by the file for the zone, and by the file for all. */
export function zoneErrors(
  { errors }: ZoneConfig,
  known: KnownZone | null,
  account: CustomLayer,
  failed: (what: CustomErrorFailure) => void = () => {},
): CustomErrors {
  const { errorRules, errorPages } = known ?? nothingSet
  const pages = Object.keys(errorPages).length === 0 ? errors.pages : mergedPages(errors.pages, errorPages)
  const layers = [{ rules: errorRules, pages }, { rules: errors.rules, pages: noPages }, account]
  return new CustomErrors(layers, { failed })
}

/** Puts the rules of the API before those of the file, but for what the file denies for legal reasons: no token lifts that. */
function joined(access: AccessConfig, { accessRules }: KnownZone): AccessConfig {
  const legal = access.rules.filter(({ action }) => action === 'legal')
  const others = access.rules.filter(({ action }) => action !== 'legal')
  return { ...access, rules: [...legal, ...accessRules, ...others] }
}

/** Returns the same object for the same pages, since each is compiled once. */
function mergedPages(pages: ErrorPages, errorPages: ErrorPages): ErrorPages {
  const known = merged.get(errorPages)
  if (known?.below === pages) return known.result
  const result = { ...pages, ...errorPages }
  merged.set(errorPages, { below: pages, result })
  return result
}

const merged = new WeakMap<ErrorPages, { readonly below: ErrorPages; readonly result: ErrorPages }>()
const noPages: ErrorPages = {}
const nothingSet: KnownZone = { errorRules: [], accessRules: [], errorPages: {} }
