// Makes the mutations of a source file: small edits of its code, each of which a test should notice. One that every test notices that
// notices another one of them is left out: a condition that becomes true and one that becomes false cover its negation, and a chain
// of `&&` that loses each of its operands in turn covers `||`.

import { type AnyNode, parse } from 'acorn'
import { stripTypeScriptTypes } from 'node:module'

interface Range {
  readonly start: number
  readonly end: number
}

/** An edit of a file: the characters from `start` to `end` become `text`. */
export interface Mutation extends Range {
  readonly text: string
  /** Where the code begins that a test has to run: what follows `?.` may be left out. */
  readonly at: number
}

export function mutate(source: string, { start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end)
}

/** Replaces types with blanks, which keeps every position. */
export function strip(source: string): string {
  return stripTypeScriptTypes(source, { mode: 'strip' })
}

/** Returns the mutations of a TypeScript file, by position. */
export function mutationsOf(source: string): readonly Mutation[] {
  const code = strip(source)
  const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module', preserveParens: true })
  const mutator = new Mutator(code)
  mutator.visit(program, null)
  return mutator.mutations.sort((a, b) => a.start - b.start || a.end - b.end)
}

const comparisons: Readonly<Record<string, string>> = {
  ...{ '===': '!==', '!==': '===', '==': '!=', '!=': '==' },
  ...{ '<': '>=', '>=': '<', '>': '<=', '<=': '>' },
}
const boundaries: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const calculations: Readonly<Record<string, string>> = {
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' },
  ...{ '<<': '>>', '>>': '<<', '>>>': '<<', '&': '|', '|': '&', '^': '&' },
}
const siblings: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
])

/** Names of what is true or false. */
const question = /^#?(?:is|has|can|may|does|was|should)(?=[A-Z]|$)/
/** Names of constants whose exact value matters; of others, such as times, the order of magnitude does. */
const limit = /^(?:max|min|most|least|longest|shortest)(?=[A-Z]|$)/

class Mutator {
  readonly mutations: Mutation[] = []
  readonly #code: string
  /** Conditions, and the operands of those that are chains: no need to negate what becomes true and false. */
  readonly #decided = new Set<AnyNode>()

  constructor(code: string) {
    this.#code = code
  }

  visit(node: AnyNode, parent: AnyNode | null): void {
    this.#mutate(node, parent)
    for (const child of childrenOf(node)) this.visit(child, node)
  }

  #mutate(node: AnyNode, parent: AnyNode | null): void {
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
        this.#decide(node.test)
        break
      case 'WhileStatement':
      case 'ForStatement':
        // With true, it would not end.
        if (node.test) this.#decide(node.test, ['false'])
        break
      case 'ReturnStatement':
        if (node.argument && isBoolean(node.argument)) this.#decide(node.argument)
        break
      case 'ArrowFunctionExpression':
        if (isBoolean(node.body)) this.#decide(node.body)
        break
      case 'LogicalExpression':
        // The left side of a chain of one operator is a chain itself, and loses each of its operands.
        this.#replace(node, this.#textOf(node.left))
        if (bare(node.left).type !== 'LogicalExpression' || operatorOf(bare(node.left)) !== node.operator)
          this.#replace(node, this.#textOf(node.right))
        break
      case 'BinaryExpression':
        this.#operator(node, boundaries[node.operator])
        if (!this.#decided.has(node)) this.#operator(node, comparisons[node.operator])
        if (!isText(node)) this.#operator(node, calculations[node.operator])
        break
      case 'UnaryExpression':
        if (node.operator === '!' && !this.#decided.has(node))
          this.#replace(node, this.#textOf(node.argument))
        break
      case 'AssignmentExpression':
        if (/^(?:\?\?|\|\||&&)=$/.test(node.operator)) this.#operator(node, '=')
        else {
          const swapped = calculations[node.operator.slice(0, -1)]
          if (swapped !== undefined && !isText(node)) this.#operator(node, `${swapped}=`)
        }
        break
      case 'MemberExpression':
      case 'CallExpression':
        if (node.optional) this.#chain(node)
        if (node.type === 'MemberExpression' && node.property.type === 'Identifier' && !node.computed)
          this.#replace(node.property, siblings.get(node.property.name))
        break
      case 'Literal':
        if (typeof node.value === 'boolean') this.#replace(node, String(!node.value))
        break
      case 'ArrayExpression':
        if (node.elements.length > 0 && parent?.type !== 'VariableDeclarator') this.#replace(node, '[]')
        break
      case 'VariableDeclarator':
        this.#constant(node)
        break
      case 'ForOfStatement':
        if (node.body.type === 'ExpressionStatement') this.#replace(node.body, ';')
        break
      case 'Program':
      case 'BlockStatement':
      case 'SwitchCase':
        this.#statements(node.type === 'SwitchCase' ? node.consequent : node.body, node, parent)
    }
  }

  /** Makes a condition true and false; of a chain, what its operands do not cover when they are lost. */
  #decide(condition: AnyNode, texts: readonly string[] = ['true', 'false']): void {
    const inner = bare(condition)
    const given = inner.type === 'LogicalExpression' && constants[inner.operator]
    for (const text of texts) if (!given || text === given) this.#replace(condition, text)
    this.#mark(condition)
  }

  #mark(condition: AnyNode): void {
    const inner = bare(condition)
    this.#decided.add(inner)
    if (inner.type !== 'LogicalExpression') return
    this.#mark(inner.left)
    this.#mark(inner.right)
  }

  #statements(body: readonly AnyNode[], block: AnyNode, parent: AnyNode | null): void {
    const isAlone = body.length === 1
    // A condition that becomes false drops all that follows it.
    const isCovered = isAlone && parent?.type === 'IfStatement' && !parent.alternate
    for (const statement of body) {
      const isLast = statement === body.at(-1) && block.type === 'BlockStatement' && isFunction(parent)
      if (statement.type === 'ExpressionStatement') {
        const { expression } = statement
        if (statement.directive || isSuper(expression)) continue
        if (!isCovered) this.#replace(statement, ';')
        if (expression.type === 'AwaitExpression')
          this.#replace(expression, this.#textOf(expression.argument))
      } else if (/^(?:Return|Throw|Continue|Break)Statement$/.test(statement.type))
        if (!isAlone && !(isLast && statement.type === 'ReturnStatement')) this.#replace(statement, ';')
    }
  }

  /** Changes numbers that have a name in the module: a limit by one, others to twice as much. */
  #constant({ id, init }: AnyNode & { type: 'VariableDeclarator' }): void {
    if (id.type !== 'Identifier' || !init || !isNumber(init)) return
    const text = this.#textOf(init)
    const changed = limit.test(id.name) ? [`${text} + 1`, `${text} - 1`] : [`2 * (${text})`]
    for (const text of changed) this.#replace(init, text)
  }

  /** Reads a property, or calls, whether or not there is something to read it from. */
  #chain(node: AnyNode & { type: 'MemberExpression' | 'CallExpression' }): void {
    const before = node.type === 'MemberExpression' ? node.object : node.callee
    const start = this.#code.indexOf('?.', before.end)
    const isDotted = node.type === 'MemberExpression' && !node.computed
    this.#replace({ start, end: start + 2 }, isDotted ? '.' : '', node.start)
  }

  #operator({ left, right, operator }: { left: Range; right: Range; operator: string }, text?: string): void {
    const start = this.#code.indexOf(operator, left.end)
    if (start < right.start) this.#replace({ start, end: start + operator.length }, text, left.start)
  }

  #replace({ start, end }: Range, text: string | undefined, at = start): void {
    if (text !== undefined && text !== this.#code.slice(start, end))
      this.mutations.push({ start, end, text, at })
  }

  #textOf({ start, end }: Range): string {
    return this.#code.slice(start, end)
  }
}

/** What no loss of an operand makes of a chain. */
const constants: Readonly<Record<string, string>> = { '&&': 'false', '||': 'true' }

function childrenOf(node: AnyNode): readonly AnyNode[] {
  const isNode = (value: unknown): value is AnyNode =>
    typeof value === 'object' && value !== null && 'type' in value && 'start' in value
  return Object.values(node).flat().filter(isNode)
}

function bare(node: AnyNode): AnyNode {
  return node.type === 'ParenthesizedExpression' ? bare(node.expression) : node
}

function operatorOf(node: AnyNode): string | null {
  return 'operator' in node ? node.operator : null
}

function isBoolean(node: AnyNode): boolean {
  const inner = bare(node)
  switch (inner.type) {
    case 'BinaryExpression':
      return inner.operator in comparisons || inner.operator === 'in' || inner.operator === 'instanceof'
    case 'UnaryExpression':
      return inner.operator === '!'
    case 'LogicalExpression':
      return inner.operator !== '??' && isBoolean(inner.left) && isBoolean(inner.right)
    case 'CallExpression':
      return isBoolean(inner.callee)
    case 'MemberExpression':
      return isBoolean(inner.property)
    case 'Identifier':
    case 'PrivateIdentifier':
      return question.test(inner.name)
    default:
      return false
  }
}

/** Whether it surely adds texts: a difference of those is no number. */
function isText(node: AnyNode): boolean {
  const inner = bare(node)
  if (inner.type === 'Literal') return typeof inner.value === 'string'
  if (inner.type === 'TemplateLiteral') return true
  const isSum = inner.type === 'BinaryExpression' || inner.type === 'AssignmentExpression'
  return isSum && inner.operator.startsWith('+') && (isText(inner.left) || isText(inner.right))
}

/** Whether a number is written down, such as `64 * 1024`. */
function isNumber(node: AnyNode): boolean {
  const inner = bare(node)
  if (inner.type === 'Literal') return typeof inner.value === 'number' && inner.value > 1
  return inner.type === 'BinaryExpression' && isNumber(inner.left) && isNumber(inner.right)
}

function isFunction(node: AnyNode | null): boolean {
  return node !== null && /Function/.test(node.type)
}

function isSuper(node: AnyNode): boolean {
  return node.type === 'CallExpression' && node.callee.type === 'Super'
}
