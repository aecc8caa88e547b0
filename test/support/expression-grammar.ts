import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

const root = fc.constantFrom('$json', '$json.a', '$input.item.json', '$item.json', 'foo');

/** Expressions with two spaces or a line break between them. */
const lines = (text: string) => fc.constantFrom(...text.trim().split(/\n\s*| {2,}/));

const step = lines(`
	.a  .b  ["it is"]  .list  [0]  ?.a  ?.[0]  ?.b  .name  .length  [$json.b]  ?.["a"]  .class  .year  .ts  .href
`);

const method = lines(`
	.trim()  .toUpperCase()  .split(",")  .map(x => x)  .map(x => x?.a)  .join("/")  .first()  .toNumber()
	.isEmpty()  ?.trim()  ?.first()  .includes("x")  .toString()  .toDateTime()  .format("yyyy")
	.replace(/[a/]/g, "-")  .match(/"/)  .slice(-2)  .filter(Boolean)  ?.toUpperCase?.()  .toTitleCase()  .keys()
	["trim"]()  .getTime()  .toISO()  .plus({ days: 1 })  .getFullYear()
`);

/** `)+(` closes what the expression around it opened. */
const operator = fc.constantFrom(
	...'+ - * / % === ?? || && < >= , in ; // )+('.split(' '),
	'\n',
);

const other = lines(`
	1  2.5  "x"  'it is'  "it's"  "\\n\\"q\\""  "a.first("  true  null  undefined  ""  "}"  "use strict"
	/a/.test("a")  1n + 1  !$json.a  -$json.a  $json.a /* note */  $json.constructor  $json.a.trim  this  throw 1
	new Date(0)  DateTime.fromISO("2026-03-01")  Duration.fromMillis(5)  $now.set({ year: 2026 }).toISODate()
	$now.year  $today.toISO()  $itemIndex  $position + 1  $thisItem.json.a  $item(0).$json.a  $input.first().json.a
	$input.all().length  $items().length  $prevNode.name  $workflow.name  $runIndex  $json.first().a
	$("None").item.json.a  $ifEmpty($json.a, "-")  Math.max(...$json.list)  [1,2].map(x => $json?.a)
`);

/** JavaScript code between `{{` and `}}`. */
export const { code } = fc.letrec<{ code: string; path: string }>((tie) => {
	const path = tie('path');
	const inner = tie('code');
	return {
		path: fc.tuple(root, fc.array(step, { maxLength: 3 })).map(([from, by]) => from + by.join('')),
		code: fc.oneof(
			{ maxDepth: 3 },
			path,
			path,
			other,
			fc.tuple(path, method, method).map((parts) => parts.join('')),
			fc.tuple(inner, operator, inner).map((parts) => parts.join(' ')),
			fc.tuple(inner, inner, inner).map(([test, yes, no]) => `${test} ? ${yes} : ${no}`),
			fc.tuple(inner, method).map(([value, call]) => `(${value})${call}`),
			inner.map((value) => `$if(${value}, 1, "b")`),
			inner.map((value) => `[${value}, 1]`),
			inner.map((value) => `({ x: ${value} }).x`),
			inner.map((value) => `String(${value})`),
			inner.map((value) => `typeof ${value}`),
			inner.map((value) => `\`<\${${value}}>\``),
			inner.map((value) => `(() => { return ${value} })()`),
			inner.map((value) => `JSON.parse(${value})`),
		),
	};
});

const text = fc.constantFrom(...['', ' ', 'Dear ', '"', '\\', '}', '{', '}}', 'a.b', '.constructor', 'ü\n', "it's "]);
const part = fc.oneof(text, code.map((inner) => `{{${inner}}}`));

/** Expressions of all kinds, including ones that fail. None of them changes the item. */
export const expression = fc.oneof(
	{ weight: 5, arbitrary: code.map((inner) => `={{ ${inner} }}`) },
	{ weight: 2, arbitrary: fc.array(part, { maxLength: 4 }).map((parts) => `=${parts.join('')}`) },
);

const leaves = ['text', '', 0, false, null, [], {}, ['x', [1]]];
const keys = ['a', 'b c', '0', 'ünï', 'a.b', "it's"];

/** Every leaf under every key: at the top level, one level deeper, and in a list. */
export const everyJson = Object.fromEntries(
	keys.flatMap((key, k) =>
		leaves.flatMap((leaf, l) => [
			[`${key}${l}`, leaf],
			[`deep${k}_${l}`, { [key]: leaf, list: [leaf, { [key]: leaf }] }],
		]),
	),
) as IDataObject;

const stepTo = (key: string) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

/** Paths to everything in it, and to members that do not exist. */
export const waysIn = keys.flatMap((key, k) =>
	leaves.flatMap((_, l) => {
		const deep = `$json.deep${k}_${l}`;
		return [
			`$json${stepTo(key + l)}`,
			`$json${stepTo(key + l)}.missing`,
			`${deep}${stepTo(key)}`,
			`${deep}.list[0]`,
			`${deep}.list[1]${stepTo(key)}`,
			`${deep}.list[9]${stepTo(key)}.more`,
		];
	}),
);

