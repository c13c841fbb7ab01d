// Custom error rules and what they look at, as tests need them: what is not said is a plain GET, and matches every rule.

import type { Facts, RequestFacts } from '../../src/expression/expression.ts'
import type { ErrorRule } from '../../src/config/model/custom-errors-config.ts'
import { type ErrorName, errorRows } from '../../src/errors/catalogue/catalogue.ts'
import { noTls } from '../../src/expression/tls-facts.ts'

export function errorRule(facts: Partial<ErrorRule>): ErrorRule {
  return {
    expression: 'true',
    content: 'custom',
    contentType: 'text/plain',
    status: null,
    description: null,
    ...facts,
  }
}

export function factsFor(name: ErrorName, request: Partial<RequestFacts> = {}): Facts {
  const { code, status, category } = errorRows[name]
  const plain = {
    method: 'GET',
    host: 'site.test',
    path: '/',
    query: '',
    asn: 0,
    scheme: 'http' as const,
    tls: noTls,
  }
  return {
    request: { ...plain, headers: new Map(), ip: '192.0.2.7', country: '', ...request },
    response: { code: status },
    error: { code, name, category },
    zone: 'site',
  }
}
