import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { judgeLogo, judgeProof } from './file-type.ts';

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const IEND = pngChunk('IEND', Buffer.alloc(0));
const IDAT = pngChunk('IDAT', deflateSync(Buffer.from([0, 1, 2, 3])));

function pngChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, data, Buffer.alloc(4)]);
}

function header(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 2], 8);
  return pngChunk('IHDR', data);
}

const png = (...chunks: Buffer[]): Buffer => Buffer.concat([PNG_SIGNATURE, ...chunks]);
const PNG = png(header(2, 2), IDAT, IEND);

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

function frame(width: number, height: number): Buffer {
  const data = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  data.writeUInt16BE(height, 1);
  data.writeUInt16BE(width, 3);
  return segment(0xc2, data);
}

const SOI = Buffer.from([0xff, 0xd8]);
const EOI = Buffer.from([0xff, 0xd9]);
const SCAN = Buffer.concat([
  segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  Buffer.from([1, 0xff, 0, 2, 0xff, 0xd3, 3]),
]);
const jpeg = (...parts: Buffer[]): Buffer => Buffer.concat([SOI, ...parts, EOI]);
const JPEG = jpeg(segment(0xe1, Buffer.from('Exif\0\0')), frame(4, 3), SCAN, SCAN);

function riff(kind: string, ...chunks: [string, Buffer][]): Buffer {
  const body = Buffer.concat([
    Buffer.from(kind),
    ...chunks.map(([name, data]) => {
      const head = Buffer.alloc(8);
      head.write(name, 'latin1');
      head.writeUInt32LE(data.length, 4);
      return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
    }),
  ]);
  const head = Buffer.alloc(8);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** The head of a lossy picture: its frame tag, start code and dimensions. */
function vp8(width: number, height: number): Buffer {
  const data = Buffer.from([0x30, 1, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0, 0]);
  data.writeUInt16LE(width, 6);
  data.writeUInt16LE(height, 8);
  return data;
}

/** The head of a lossless picture: 14 bits per side, stored minus one. */
function vp8l(width: number, height: number): Buffer {
  const data = Buffer.alloc(12, 0x2f);
  data.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  return data;
}

/** The head of an extended file, which holds more than a picture: 24 bits per side, stored minus one. */
function vp8x(width: number, height: number): Buffer {
  const data = Buffer.alloc(10);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return data;
}

const WEBP = riff('WEBP', ['VP8 ', vp8(2, 1)]);
const pdf = (body: string, end = '%%EOF\r\n'): Buffer => Buffer.from(`%PDF-1.7\n${body}\n${end}`, 'latin1');
const ZIP = Buffer.concat([
  Buffer.from('PK\u0001\u0002'),
  Buffer.alloc(42),
  Buffer.from('PK\u0005\u0006'),
  Buffer.alloc(18),
]);

const note = (text: string): Buffer => pngChunk('tEXt', Buffer.from(text));

const proof = (bytes: Uint8Array): string => {
  const verdict = judgeProof(bytes);
  return verdict.kind === 'file' ? verdict.type : verdict.fault;
};
const logo = (bytes: Uint8Array): string => {
  const verdict = judgeLogo(bytes);
  return verdict.kind === 'file' ? verdict.type : verdict.fault;
};

describe('a proof is accepted if it is', () => {
  test.each([
    ['a PNG', 'image/png', PNG],
    ['a PNG with notes in it', 'image/png', png(header(1, 1), pngChunk('tEXt', Buffer.from('a\0<x:xmp>')), IDAT, IEND)],
    ['a JPEG', 'image/jpeg', JPEG],
    ['a JPEG with fill bytes', 'image/jpeg', jpeg(frame(1, 1), Buffer.from([0xff, 0xff]), SCAN)],
    ['a JPEG of a few pixels without an end', 'image/jpeg', Buffer.concat([SOI, frame(64, 64), SCAN])],
    ['a JPEG with a preview behind it', 'image/jpeg', Buffer.concat([JPEG, JPEG])],
    ['a PDF', 'application/pdf', pdf('1 0 obj << /Type /Page /A (b) >>')],
    ['a PDF that was added to', 'application/pdf', pdf('%%EOF\n2 0 obj\n')],
    ['a PDF that is filled up to a block', 'application/pdf', pdf('', `%%EOF${'\0'.repeat(4_096)}`)],
    ['a PDF that opens at a page', 'application/pdf', pdf('/OpenAction [1 0 R /Fit] /OpenAction 5 0 R')],
    ['a PDF with a longer word', 'application/pdf', pdf('/GoToRest /GoTo /URI')],
    ['a PDF with a sign that is spelt badly', 'application/pdf', pdf('/Laun#6xch /Launch#41')],
    ['a photo of a hundred megapixels', 'image/png', png(header(10_000, 10_000), IDAT, IEND)],
    ['a PDF without an end', 'application/pdf', Buffer.from('%PDF-1.4\n1 0 obj')],
    ['the signature of a PNG', 'image/png', Buffer.concat([PNG_SIGNATURE, Buffer.alloc(64)])],
    ['the beginning of a JPEG', 'image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a, 0x46, 0x49, 0x46])],
    [
      'a PNG that names a PDF far behind',
      'image/png',
      png(header(1, 1), note(`${' '.repeat(2_000)}%PDF-1.7`), IDAT, IEND),
    ],
  ])('%s', (_name, type, bytes) => {
    expect(proof(bytes)).toBe(type);
  });
});

describe('a proof is unsafe if it is', () => {
  const cases: [string, Buffer][] = [
    ['a PNG without data', png(header(2, 2), IEND)],
    ['a PNG whose header is not first', png(IDAT, header(2, 2), IEND)],
    ['a PNG with two headers', png(header(2, 2), header(2, 2), IDAT, IEND)],
    ['a PNG without an end', png(header(2, 2), IDAT)],
    ['a PNG of no width', png(header(0, 2), IDAT, IEND)],
    ['a PNG that would fill the memory', png(header(1, 4_000_000_000), IDAT, IEND)],
    ['a PNG whose chunk is longer than the file', png(header(2, 2), IDAT.subarray(0, 12))],
    ['a PNG with a ZIP in a chunk', png(header(2, 2), IDAT, pngChunk('zIPx', ZIP), IEND)],
    ['a PNG with a page in a chunk', png(header(2, 2), pngChunk('tEXt', Buffer.from('<HTML>')), IDAT, IEND)],
    [
      'a PNG with a script far behind',
      png(header(2, 2), pngChunk('tEXt', Buffer.from(`${' '.repeat(9_000)}<ScRipt`)), IDAT, IEND),
    ],
    ['a JPEG without a scan', jpeg(frame(1, 1))],
    ['a JPEG that is cut off in its scan', Buffer.concat([SOI, frame(65, 64), SCAN])],
    ['a JPEG without an end that is a ZIP', Buffer.concat([SOI, frame(1, 1), SCAN, ZIP])],
    ['a JPEG without an end that is a page', Buffer.concat([SOI, frame(1, 1), SCAN, Buffer.from('<html>')])],
    ['a JPEG that is cut off before its scan', Buffer.concat([SOI, frame(1, 1), SCAN.subarray(0, 5)])],
    ['a JPEG of no height', jpeg(frame(1, 0), SCAN)],
    ['a JPEG that is as wide as a wall', jpeg(frame(30_000, 1), SCAN)],
    ['a JPEG with a segment of no length', jpeg(Buffer.from([0xff, 0xe0, 0, 0]), frame(1, 1), SCAN)],
    ['a JPEG with an SVG in a comment', jpeg(segment(0xfe, Buffer.from('<svg onload=x>')), frame(1, 1), SCAN)],
    ['a PDF without a version', Buffer.from('%PDF-x\n%%EOF')],
    ['a PDF without an end, with a script', Buffer.from('%PDF-1.4\n/JavaScript ')],
    ['a PDF without an end that is a ZIP', Buffer.concat([Buffer.from('%PDF-1.4\n'), ZIP])],
    ['a PNG with a page and no picture', Buffer.concat([PNG_SIGNATURE, Buffer.from('<html>')])],
    ['a JPEG with a PDF and no picture', Buffer.concat([SOI, Buffer.from([0xff, 0xe0]), pdf('')])],
    ['a PNG with a ZIP and no picture', Buffer.concat([PNG_SIGNATURE, ZIP])],
    ['a PDF with something behind its end', pdf('', '%%EOF\nPK')],
    ['a PDF with much behind its end', pdf('', `%%EOF\n${'PK'.repeat(1_000)}`)],
    ['a PDF with something behind what fills it up', pdf('', `%%EOF${'\0'.repeat(4_096)}PK`)],
    ['a PDF with a script', pdf('<< /OpenAction << /S /JavaScript >> >>')],
    ['a PDF that spells it differently', pdf('/#4aava#53cript')],
    ['a PDF that starts something', pdf('/Launch/x')],
    ['a PDF with files', pdf('/Names << /EmbeddedFiles 1 0 R >>')],
    ['a PDF with a film', pdf('/RichMedia ')],
    ['a PDF that is a page', pdf('<!DOCTYPE html>')],
    ['a PDF that is a ZIP', pdf(ZIP.toString('latin1'))],
    ['a PDF that sends a form', pdf('<< /S /SubmitForm /F (x) >>')],
    ['a PDF that spells that differently', pdf('/Submit#46orm')],
    ['a PDF that takes data in', pdf('/S/ImportData/F(x)')],
    ['a PDF that goes to another file', pdf('<< /S /GoToR /F (x) >>')],
    ['a PDF that goes to one within', pdf('<< /S /GoTo#45 >>')],
    ['a PDF that plays something', pdf('/Rendition ')],
    ['a PDF that acts when it is opened', pdf('/OpenAction\r\n<< /S /URI >>')],
    ['a PDF that does so behind a comment', pdf('/Open#41ction % page\n<< /S /URI >>')],
    ['a PDF that does so behind many blanks', pdf(`/OpenAction${' '.repeat(5_000)}<< /S /URI >>`)],
    ['a PDF that does so behind as many as are looked over', pdf(`/OpenAction${' '.repeat(63)}<< /S /URI >>`)],
    ['a PDF that spells one sign differently', pdf('/Launch#20')],
    ['a JPEG with a PDF in a comment', jpeg(segment(0xfe, pdf('')), frame(1, 1), SCAN)],
    ['a PNG with a PDF in a note', png(header(1, 1), note(`a\0${pdf('').toString()}`), IDAT, IEND)],
    ['a PNG that unpacks to 400 megapixels', png(header(20_000, 20_000), IDAT, IEND)],
    ['a PNG of a row more than is allowed', png(header(10_000, 10_001), IDAT, IEND)],
    ['a JPEG that unpacks to 400 megapixels', jpeg(frame(20_000, 20_000), SCAN)],
  ];
  test.each(cases)('%s', (_name, bytes) => {
    expect(proof(bytes)).toBe('FILE_UNSAFE');
  });
});

/** What Samsung's telephones append to a picture: a block, the directory of the blocks, and where that begins. */
const SAMSUNG = Buffer.concat([
  Buffer.from([0, 0, 1, 0x0a, 14, 0, 0, 0]),
  Buffer.from('Image_UTC_Data1763600000000'),
  Buffer.from('SEFH'),
  Buffer.from([106, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0x0a, 35, 0, 0, 0, 35, 0, 0, 0, 24, 0, 0, 0]),
  Buffer.from('SEFT'),
]);
const HUGE = jpeg(frame(20_000, 20_000), SCAN);

describe('a picture is kept, and what follows its end is removed, be it', () => {
  test.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['a byte', Buffer.from([0])],
    ['what a telephone notes there', SAMSUNG],
    ['a film', Buffer.from('\0\0\0\u0018ftypmp42\0\0\0\0isommp42')],
    ['an archive', ZIP],
    ['a script', Buffer.from('<script>alert(1)</script>')],
    ['a document', pdf('<< /S /JavaScript >>')],
    ['half a preview', Buffer.concat([SOI, frame(1, 1)])],
    ['a preview that would fill the memory', HUGE],
  ])('%s', (_name, behind) => {
    for (const judged of [judgeProof, judgeLogo]) {
      for (const [type, picture] of [['image/png', PNG] as const, ['image/jpeg', JPEG] as const]) {
        const verdict = judged(Buffer.concat([picture, behind]));
        expect(verdict).toMatchObject({ kind: 'file', type });
        if (verdict.kind === 'file') expect(picture.equals(verdict.bytes)).toBe(true);
      }
    }
  });

  test('another complete picture, which only a JPEG may contain there', () => {
    const kept = (...pictures: Buffer[]) => {
      const verdict = judgeProof(Buffer.concat([...pictures, ZIP]));
      return verdict.kind === 'file' ? verdict.bytes.length : verdict.fault;
    };
    expect(kept(JPEG, JPEG)).toBe(JPEG.length * 2);
    expect(kept(PNG, PNG)).toBe(PNG.length);
  });
});

describe('a proof is of the wrong type if it is', () => {
  test.each([
    ['text', Buffer.from('a')],
    ['a page', Buffer.from('<html>')],
    ['a ZIP', ZIP],
    ['a GIF', Buffer.from('GIF89a')],
    ['a WebP', WEBP],
    ['a HEIC', Buffer.from('\0\0\0\u0018ftypheic')],
    ['a PDF behind a blank', Buffer.concat([Buffer.from(' '), pdf('')])],
    ['the beginning of a PNG', PNG_SIGNATURE.subarray(0, 5)],
  ])('%s', (_name, bytes) => {
    expect(proof(bytes)).toBe('FILE_TYPE');
  });

  test('an empty file, which is reported as empty', () => {
    expect(proof(Buffer.alloc(0))).toBe('FILE_EMPTY');
  });
});

test('a logo is a picture', () => {
  expect([logo(PNG), logo(JPEG), logo(WEBP)]).toEqual(['image/png', 'image/jpeg', 'image/webp']);
  expect([logo(pdf('')), logo(Buffer.from('<svg/>'))]).toEqual(['FILE_TYPE', 'FILE_TYPE']);
  const spoilt = [
    riff('WAVE', ['VP8 ', vp8(1, 1)]),
    riff('WEBP', ['JUNK', Buffer.from('ab')]),
    riff('WEBP', ['VP8 ', Buffer.from('ab')]),
    riff('WEBP'),
    Buffer.concat([WEBP, Buffer.from('x')]),
    WEBP.subarray(0, -1),
  ];
  for (const bytes of spoilt) expect(logo(bytes)).toBe('FILE_UNSAFE');
});

test('a logo has at most four megapixels, and is not a document', () => {
  const [wide, high] = [2_000, 2_001];
  const sized = (width: number, height: number): Buffer[] => [
    png(header(width, height), IDAT, IEND),
    jpeg(frame(width, height), SCAN),
    riff('WEBP', ['VP8 ', vp8(width, height)]),
    riff('WEBP', ['VP8L', vp8l(width, height)]),
    riff('WEBP', ['VP8X', vp8x(width, height)], ['VP8 ', vp8(1, 1)]),
    riff('WEBP', ['VP8X', vp8x(1, 1)], ['VP8L', vp8l(width, height)]),
  ];
  for (const bytes of sized(wide, wide)) expect(logo(bytes)).toMatch(/^image/);
  for (const bytes of sized(wide, high)) expect(logo(bytes)).toBe('FILE_UNSAFE');
  expect(logo(riff('WEBP', ['VP8X', vp8x(16_000_000, 16_000_000)]))).toBe('FILE_UNSAFE');
  expect(logo(riff('WEBP', ['VP8 ', vp8(1, 1)], ['EXIF', pdf('')]))).toBe('FILE_UNSAFE');
});

test('whatever comes, there is a verdict, and a picture that is cut after its header is not accepted', () => {
  const starts = [PNG_SIGNATURE, SOI, Buffer.from('%PDF-1.4'), Buffer.from('RIFF'), Buffer.alloc(0)];
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 400 }), (start, rest) => {
      const bytes = Buffer.concat([start, rest]);
      expect([proof(bytes), logo(bytes)].every((word) => word !== '')).toBe(true);
    }),
  );
  const photo = jpeg(segment(0xe1, Buffer.from('Exif\0\0')), frame(400, 300), SCAN, SCAN);
  for (const [whole, header] of [[PNG, 16] as const, [photo, photo.indexOf(frame(400, 300)) + 2] as const]) {
    for (let end = header; end < whole.length; end += 1) expect(proof(whole.subarray(0, end))).toBe('FILE_UNSAFE');
    for (let end = 0; end < whole.length; end += 1) expect(logo(whole.subarray(0, end))).toMatch(/^FILE_/);
  }
});

test('names and marks in a document are not turned into text one by one, whatever it is filled with', () => {
  const made = vi.spyOn(String, 'fromCharCode');
  for (const filling of ['/', '/x', '/OpenAction/', '/OpenAction 1 ', '/#4fpen#41ctio#6e 1 ', '<', '<scrip']) {
    expect(proof(pdf(filling.repeat(1_000)))).toBe('application/pdf');
  }
  for (const filling of ['%', '%%', '%%x', '%%EO']) {
    expect(proof(Buffer.from(`%PDF-1.4\n${filling.repeat(1_000)}`))).toBe('application/pdf');
  }
  expect(made.mock.calls.length).toBeLessThan(100);
  made.mockRestore();
});

test('noise in a document is not mistaken for a script', () => {
  const noise = Buffer.alloc(300_000);
  let seed = 1;
  for (let i = 0; i < noise.length; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    noise[i] = seed >>> 16;
  }
  expect(proof(pdf(noise.toString('latin1')))).toBe('application/pdf');
});
