// The current environment of a gateway's management API, which a reload may change.

import { availableParallelism } from 'node:os'
import type { Logger } from '../../log/log.ts'
import type { RequestHistory } from '../../activity/request-history.ts'
import type { Config, Endpoint } from '../../config/model/config.ts'
import type { Api } from '../../admin/api/api-types.ts'
import type { ManagedPlane } from '../plane/managed-plane.ts'
import type { ProviderChecker } from '../../edge/ai/provider-check.ts'
import { providerFacts } from '../plane/provider-facts.ts'
import { zoneFacts } from '../plane/zone-facts.ts'
import { issuerOf } from '../ports/urls.ts'
import { version } from '../system/version.ts'
import type { Management } from '../services/management.ts'
import { pagesUrl } from '../ports/pages-url.ts'
import { priceDateOf } from '../plane/price-date.ts'
import type { Services } from '../services/services.ts'
import type { ListenerTls } from '../certificates/listener-tls.ts'

export interface ApiParts {
  readonly config: Config
  readonly admin: Endpoint
  readonly services: Services
  readonly management: Management
  readonly plane: ManagedPlane
  readonly checker: ProviderChecker
  readonly tls: ListenerTls
  readonly log: Logger
  readonly requests: RequestHistory
  readonly aiOrigin: () => string | null
  /** Ms since the epoch. */
  readonly startedAt: number
}

export function apiOf({
  config,
  admin,
  services,
  management,
  plane,
  checker,
  tls,
  log,
  aiOrigin,
  ...own
}: ApiParts): Api {
  const { store, tokens: verifier, tags, zones: records, spool } = services
  const { secrets, writes, refusals, grants, webhooks, logSeries, attention, limits, logExport } = management
  const zones = zoneFacts({
    config,
    documentation: config.errors.documentation,
    records,
    plane,
    statuses: () => tls.statuses,
  })
  const guards = { verifier, tags, secrets, writes, refusals, issuer: issuerOf(config, admin) }
  const workers = config.workers === 'auto' ? availableParallelism() : config.workers
  const seen = {
    logSeries,
    attention,
    limits,
    instance: { version, workers, priceDate: priceDateOf(config), ...own },
    zones,
    providers: providerFacts({ config, plane, checker }),
  }
  return {
    store,
    spool,
    aiOrigin,
    logExport,
    ...guards,
    grants,
    webhooks,
    pages: pagesUrl(config, admin),
    log,
    ...seen,
  }
}
