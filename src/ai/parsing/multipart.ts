// Finds the model in a multipart form (RFC 7578), strictly: a reader with other rules must not find another.

interface FormModel {
  readonly model: string
  readonly start: number
  readonly end: number
}

/** Why a form is refused. */
export type FormFlaw = 'form' | 'missing' | 'repeated'

const maxParts = 1_000
const maxHead = 16 * 1024

/** Returns the boundary of multipart/form-data; null for another type. */
export function boundaryOf(contentType: string): string | null {
  const [, quoted, plain] =
    /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:"([^"\\]{1,70})"|([^\s";,]{1,70}))[ \t]*$/i.exec(
      contentType,
    ) ?? []
  const boundary = quoted ?? plain ?? null
  return boundary !== null && /^[\w'()+,./:=? -]*[\w'()+,./:=?-]$/.test(boundary) ? boundary : null
}

/** Of a form; from its first byte to the one after its last. */
export interface FormPart {
  readonly name: string
  readonly isFile: boolean
  readonly start: number
  readonly end: number
}

export function modelInForm(body: Buffer, boundary: string): FormModel | FormFlaw {
  const parts = partsOf(body, boundary)
  if (parts === null) return 'form'
  let model: FormModel | null = null
  for (const { name, start, end } of parts) {
    if (name.toLowerCase() !== 'model') continue
    if (model !== null || name !== 'model') return 'repeated'
    model = { model: body.toString('utf8', start, end), start, end }
  }
  return model ?? 'missing'
}

/** Null for what is no form, or has more parts than a call needs. */
export function partsOf(body: Buffer, boundary: string): readonly FormPart[] | null {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const first = delimiter.subarray(2)
  if (!body.subarray(0, first.length).equals(first)) return null
  const parts: FormPart[] = []
  let at = first.length
  while (parts.length <= maxParts) {
    if (isAt(body, at, '--')) return isEnd(body, at + 2) ? parts : null
    if (!isAt(body, at, '\r\n')) return null
    const end = body.indexOf(delimiter, at)
    const headEnd = body.subarray(at, at + maxHead).indexOf('\r\n\r\n')
    if (end === -1 || headEnd === -1 || at + headEnd + 4 > end) return null
    const head = body.toString('latin1', at + 2, at + headEnd)
    const name = nameIn(head)
    if (name === null) return null
    parts.push({ name, isFile: /;[ \t]*filename\*?=/i.test(head), start: at + headEnd + 4, end })
    at = end + delimiter.length
  }
  return null
}

function isAt(body: Buffer, at: number, text: string): boolean {
  return body.toString('latin1', at, at + text.length) === text
}

function isEnd(body: Buffer, at: number): boolean {
  return at === body.length || (isAt(body, at, '\r\n') && at + 2 === body.length)
}

/** Null unless there is exactly one, written plainly. */
function nameIn(head: string): string | null {
  const fields = head.split('\r\n')
  if (!fields.every(field => /^[!#$%&'*+.^_`|~\w-]+:[^\r\n\0]*$/.test(field))) return null
  const dispositions = fields.filter(field => /^content-disposition:/i.test(field))
  if (dispositions.length !== 1 || fields.some(field => /^content-transfer-encoding:/i.test(field)))
    return null
  const [, parameters] =
    /^content-disposition:[ \t]*form-data((?:[ \t]*;[ \t]*[\w*-]+=(?:"(?:[^"\\]|\\.)*"|[^\s";]+))+)[ \t]*$/i.exec(
      dispositions[0]!,
    ) ?? []
  if (parameters === undefined) return null
  const names = [...parameters.matchAll(/;[ \t]*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/g)].filter(
    ([, parameter]) => /^name\*?$/i.test(parameter!),
  )
  if (names.length !== 1 || names[0]![1]!.endsWith('*')) return null
  const name = names[0]![2] ?? names[0]![3]!
  return name.includes('\\') || name.includes('%') ? null : name
}
