import assert from 'node:assert/strict'
import { test } from 'node:test'
import decodeQR from 'qr/decode.js'
import { qrCode } from '../../../src/pages/parts/qr.ts'

test('what is drawn reads as the text', () => {
  const uri =
    'otpauth://totp/Gatehouse:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Gatehouse'
  const { markup } = qrCode(uri, 'QR <code>')
  assert.match(markup, /aria-label="QR &#60;code&#62;"/)
  assert.doesNotMatch(markup, /style=/)
  assert.equal(decodeQR(pictureOf(markup)), uri)
})

/** Paints the cells of the drawing, four pixels wide each. */
function pictureOf(markup: string) {
  const scale = 4
  const size = Number(/viewBox="0 0 ([0-9]+)/.exec(markup)![1]) * scale
  const data = new Uint8Array(size * size * 4).fill(255)
  for (const [, x, y] of markup.matchAll(/M([0-9]+) ([0-9]+)h1v1h-1z/g))
    for (let i = 0; i < scale * scale; i++) {
      const at = (Number(y) * scale + Math.floor(i / scale)) * size + Number(x) * scale + (i % scale)
      data.fill(0, at * 4, at * 4 + 3)
    }
  return { width: size, height: size, data }
}
