import { isPlainCode, readsOnlyJson } from '../../nodes/CrmPlatform/mapping/expressions/plainCode';

test.each([
	'$json.a.trim()',
	' $json["a b"].b + 1.5 * (2 - $json.c) ',
	'$json.a === "x" ? $json.b : \'it is\'',
	'$json.list.map(one => one.name).join(", ")',
	'$json.list.filter((one, i) => i > 0)',
	'Math.max(...$json.numbers)',
	'$json.a / 2 / $json.b',
	'$json.a.replace(/[/x]+/gi, "-")',
	'$json.name?.trim()',
	'$json.a ?? $json.b || "none"',
	'$now.plus(1, "day").toISODate()',
	'DateTime.fromISO("2026-03-01")',
	'$("Other node").item.json.name',
	'new Date(0).getTime()',
	'"a \\"quoted\\" word"',
	'$json.class.trim()',
	'typeof $json.a === "string"',
])('%s means the same inside a larger expression', (code) => {
	expect(isPlainCode(code)).toBe(true);
});

test.each([
	['nothing', ''],
	['brackets that close nothing', '$json.a) + ($json.b'],
	['brackets that do not match', '[$json.a)'],
	['several statements', 'a; b'],
	['a note', '$json.a // note'],
	['a note', '$json.a /* note */'],
	['an assignment', '$json.a = 1'],
	['an assignment', '$json.a >>= 1'],
	['an assignment', '$json.a ??= 1'],
	['an increment', '$json.a++'],
	['a decrement', '--$json.a'],
	['what changes a list', '$json.list.sort()'],
	['what changes a list', '$json.list.reverse()[0]'],
	['what changes an object', 'Object.assign($json, $json.b)'],
	['a method named by a value', '$json.list["rev" + "erse"]()'],
	['this', 'this.x'],
	['what waits', 'await $json.a'],
	['what deletes', 'delete $json.a'],
	['a template', '`a`'],
	['an unfinished text', '"a'],
	['a text over two lines', '"a\n"'],
	['a quote in a pattern', '$json.a.replace(/"/, "")'],
	['a large number', '1n'],
	['optional steps in a loop', '$json.list.map(one => one?.name?.trim())'],
	['optional steps by key', '$json.a?.["b"].trim()'],
	['optional calls', '$json.name?.trim?.()'],
])('%s is left to the engine: %s', (_what, code) => {
	expect(isPlainCode(code)).toBe(false);
});

test.each([
	'$json.a.trim()',
	'$json.$item + "$item"',
	'$if($json.a, $now.year, $today.toISO())',
	'$workflow.id + $json.list.map(one => one.a).join()',
	'DateTime.fromISO($json.a)',
])('%s reads nothing of its item but the data', (code) => {
	expect(readsOnlyJson(code)).toBe(true);
});

test.each([
	'$itemIndex',
	'$json.a + $position',
	'$input.item.json.a',
	'$input.all()',
	'$("Other node").item.json.a',
	'$item(0).$json.a',
	'$binary.data.mimeType',
	'$fromAI("name")',
	'$prevNode.name',
	'$execution.customData.set("a", $json.a)',
	'$unknown',
	'',
])('%s may read more of its item than its data', (code) => {
	expect(readsOnlyJson(code)).toBe(false);
});
