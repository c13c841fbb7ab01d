// CEL with our variables, and with a `matches` whose time is bounded.

import { type ASTNode, Environment, TypeError as TypeFlaw } from '@marcbachmann/cel-js'
import { callVariables } from './call-facts.ts'
import { claimVariables } from './claim-facts.ts'
import { ErrorView, RequestView, ResponseView, tlsAlone } from './facts.ts'
import './kept-types.ts'
import { mcpFields, mcpVariables, McpView } from './mcp-facts.ts'
import { Pattern } from './pattern.ts'
import { countFolded } from './pattern-size.ts'
import { ClientView, clientFields, TlsView, tlsFields } from './tls-facts.ts'

/** `request` has request.* and zone, `error` also response.* and error.*. */
export type Scope = 'request' | 'error'
/** `call` has facts about an AI call, `claims` what a token says, `mcp` what is asked of a server as well. */
export type Language = Scope | 'call' | 'claims' | 'mcp'

const requestFields = {
  method: 'string',
  host: 'string',
  path: 'string',
  query: 'string',
  headers: 'map<string, list<string>>',
  ip: 'string',
  country: 'string',
  asn: 'int',
  scheme: 'string',
  tls: 'Tls',
  [tlsAlone]: 'bool',
}

/** The built-in `matches` backtracks, but a macro takes precedence over it. */
function newLanguage(): Environment {
  return new Environment({
    enableOptionalTypes: true,
    limits: { maxAstNodes: 1000, maxDepth: 64, maxListElements: 512, maxMapEntries: 64, maxCallArguments: 8 },
  }).registerFunction('bytes.matches(ast): bool', expandMatches)
}

const requestLanguage = newLanguage()
  .registerType('ClientCertificate', { ctor: ClientView, fields: clientFields })
  .registerType('Tls', { ctor: TlsView, fields: tlsFields })
  .registerType('Request', { ctor: RequestView, fields: requestFields })
  .registerVariable('request', 'Request')
  .registerVariable('zone', 'string')

const callLanguage = newLanguage()
for (const [name, type] of Object.entries(callVariables)) callLanguage.registerVariable(name, type)

const claimsLanguage = newLanguage()
for (const [name, type] of Object.entries(claimVariables)) claimsLanguage.registerVariable(name, type)

const mcpLanguage = newLanguage().registerType('Mcp', { ctor: McpView, fields: mcpFields })
for (const [name, type] of Object.entries(mcpVariables)) mcpLanguage.registerVariable(name, type)

const languages: Readonly<Record<Language, Environment>> = {
  call: callLanguage,
  claims: claimsLanguage,
  mcp: mcpLanguage,
  request: requestLanguage,
  error: requestLanguage
    .clone()
    .registerType('Response', { ctor: ResponseView, fields: { code: 'int' } })
    .registerType('Error', { ctor: ErrorView, fields: { code: 'int', name: 'string', category: 'string' } })
    .registerVariable('response', 'Response')
    .registerVariable('error', 'Error'),
}

/** `request.tls` without a field is whether there is TLS, as before it had fields. */
export function parseFor(language: Language, text: string): ParseResult {
  folded = 0
  const run = languages[language].parse(text)
  nameAlone(run.ast, false)
  return run
}

type ParseResult = ReturnType<Environment['parse']>

/** Renames a bare `request.tls` in a node and its parts; `isOf`: a field of the node is named. */
function nameAlone(node: unknown, isOf: boolean): void {
  if (Array.isArray(node)) for (const part of node) nameAlone(part, false)
  if (typeof node !== 'object' || node === null || !('op' in node)) return
  const { op, args } = node as ASTNode
  if (op !== '.' && op !== '.?') return nameAlone(args, false)
  const [of, name] = args
  if (!isOf && name === 'tls' && of.op === 'id' && of.args === 'request')
    (args as unknown as [ASTNode, string])[1] = tlsAlone
  nameAlone(of, true)
}

// At each failure, the package would render the expression, which is never shown.
Object.defineProperty(Object.getPrototypeOf(requestLanguage.parse('true').ast), 'input', { get: () => '' })

interface Checker<Context> {
  check(node: ASTNode, context: Context): { readonly kind: string; readonly name: string }
  getType(name: string): unknown
}

interface Evaluator<Context> {
  run(node: ASTNode, context: Context): unknown
}

interface MacroCall {
  readonly args: readonly ASTNode[]
  readonly receiver: ASTNode
}

function expandMatches({ args, receiver }: MacroCall) {
  let pattern: Pattern
  return {
    async: false,
    typeCheck<Context>(checker: Checker<Context>, _macro: unknown, context: Context) {
      const { name } = checker.check(receiver, context)
      if (name !== 'string') throw new TypeFlaw(`matches() takes a string, not ${name}`, receiver)
      pattern = compilePattern(args[0]!)
      return checker.getType('bool')
    },
    evaluate<Context>(evaluator: Evaluator<Context>, _macro: unknown, context: Context) {
      return pattern.test(evaluator.run(receiver, context) as string)
    },
  }
}

/** Characters that all patterns of an expression may fold: that takes 5 ms. */
const maxFolded = 50_000
/** Those of the expression that was parsed last. */
let folded = 0

function compilePattern(node: ASTNode): Pattern {
  if (node.op !== 'value' || typeof node.args !== 'string') {
    throw new TypeFlaw('matches() takes a literal pattern', node)
  }
  folded += countFolded(node.args)
  if (folded > maxFolded) throw new TypeFlaw('the patterns ignore case in ranges that are too wide', node)
  const pattern = Pattern.compile(node.args)
  if (typeof pattern === 'string') throw new TypeFlaw(pattern, node)
  return pattern
}
