import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import ts from 'typescript';

/** A text that users read, and where it is. */
interface Text {
	place: string;
	text: string;
}

/** The part of a node or a credential that n8n shows. */
interface Described {
	displayName: string;
	description?: string;
	properties: object[];
}

/** A source file of the package. */
interface Source {
	path: string;
	text: string;
}

/** The keys of a description whose values users read, as n8n-workflow names them. */
const shownKeys = [
	'displayName',
	'description',
	'placeholder',
	'hint',
	'action',
	'singular',
	'plural',
	'title',
	'valuesLabel',
];

/**
 * Every text of the package that users read, as Markdown: names, descriptions, placeholders and
 * hints as n8n shows them, then messages from the sources. The clone must be the current folder.
 *
 * @param load returns the exports of a node's or credential's source file
 */
export function readWordList(load: (file: string) => object): string {
	const forms = globSync('{nodes,credentials}/**/*.{node,credentials}.ts').sort().reverse();
	const sources = globSync('nodes/**/*.ts').sort();
	return wordList(
		forms.map((file) => formIn(file, load(file))),
		sources.map((path) => ({ path, text: readFileSync(path, 'utf8') })),
	);
}

function formIn(file: string, exported: object): Described {
	const [name = ''] = basename(file).split('.');
	const form = new (exported as Record<string, new () => Described & { description: Described }>)[name]!();
	return typeof form.description === 'object' ? form.description : form;
}

function wordList(forms: Described[], sources: Source[]): string {
	const sections = forms.map(({ displayName, description, properties }) => {
		const texts = [{ place: 'node', text: description ?? '' }, ...properties.flatMap((property) => textsIn(property))];
		return section(displayName, texts);
	});
	const formTexts = new Set(forms.flatMap((form) => textsIn(form).map(({ text }) => text)));
	const messages = sources.map(({ path, text }) => {
		const fileMessages = messagesIn(text).filter((message) => !formTexts.has(message));
		return section(path, fileMessages.map((message) => ({ place: '', text: message })));
	});
	return [
		'# Every word that users read',
		'',
		'From the forms of the nodes and credentials and from the messages in `nodes/`. Read it aloud.',
		'',
		...sections,
		...messages,
	].join('\n');
}

function section(title: string, texts: Text[]): string {
	const lines = texts
		.filter(({ text }) => text !== '')
		.map(({ place, text }) => (place === '' ? `- ${oneLine(text)}` : `- ${place}: ${oneLine(text)}`));
	return lines.length === 0 ? '' : `## ${title}\n\n${[...new Set(lines)].join('\n')}\n`;
}

const oneLine = (text: string): string => text.replaceAll('\n', ' ⏎ ');

/** @param parent the name of the parameter a value belongs to */
function textsIn(value: unknown, parent = ''): Text[] {
	if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, parent));
	if (typeof value !== 'object' || value === null) return [];
	const { name, displayName } = value as { name?: unknown; displayName?: unknown };
	// The name of a choice is shown, that of a parameter is not.
	const isChoice = displayName === undefined && typeof name === 'string';
	const place = isChoice || typeof name !== 'string' ? parent : [parent, name].filter(Boolean).join('.');
	return Object.entries(value).flatMap(([key, member]) => {
		const isShown = shownKeys.includes(key) || (isChoice && key === 'name');
		if (isShown && typeof member === 'string') {
			const label = key === 'displayName' ? place : `${place} ${isChoice && key === 'name' ? 'choice' : key}`;
			return [{ place: label, text: member }];
		}
		return typeof member === 'object' ? textsIn(member, place) : [];
	});
}

/** The string literals of a source file that are prose, with variable parts as `{expression}`. */
function messagesIn(source: string): string[] {
	const file = ts.createSourceFile('', source, ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isImportDeclaration(node)) return;
		const text = textOf(node);
		if (text !== undefined && isProse(text)) found.push(text);
		ts.forEachChild(node, visit);
	};
	visit(file);
	return found;
}

function textOf(node: ts.Node): string | undefined {
	if (ts.isStringLiteralLike(node)) return node.text;
	if (!ts.isTemplateExpression(node)) return undefined;
	const spans = node.templateSpans.map(({ expression, literal }) => `{${expression.getText()}}${literal.text}`);
	return node.head.text + spans.join('');
}

/** Two words in a row outside of variable parts, which keys and paths do not have. */
function isProse(text: string): boolean {
	return /\p{L}+[,:;’)]* \p{L}{2,}/u.test(text.replaceAll(/\{[^}]*\}/g, '{}'));
}
