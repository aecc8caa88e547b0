import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import { isToolCall } from '../api/toolNode';
import { nodeFailure, type NodeFailure } from '../failure';
import { maxAnswerLengthOf, minAnswerLength } from '../parameters/outputParameters';

export interface NodeOutput {
	items: INodeExecutionData[];
	notices: Iterable<string>;
}

/** A run's items, with notices as hints. AI agents and MCP clients read none: they get notices within an answer or error of limited length. */
export async function answerOf(n8n: IExecuteFunctions, execute: () => Promise<NodeOutput>): Promise<INodeExecutionData[][]> {
	if (!isToolCall(n8n)) {
		const { items, notices } = await execute();
		for (const message of notices) n8n.addExecutionHints({ message, location: 'outputPane' });
		return [items];
	}
	let length = minAnswerLength;
	try {
		length = maxAnswerLengthOf(n8n);
		const { items, notices } = await execute();
		const noticeText = [...(items.length > 0 ? [] : ['Nothing was found: no record matches.']), ...notices].join('\n');
		return [withinLength(items, noticeText === '' ? [] : [cut(noticeText, length / 4)], length)];
	} catch (error) {
		const failure = nodeFailure(n8n, error as Error, 0);
		const text = failureText(failure);
		if (isSwallowed(n8n)) return [withinLength([{ json: { error: text } }], [], length)];
		// A model reads only the message of an error (AI Agent 3, n8n 2.41).
		failure.message = cut(text, length);
		throw failure;
	}
}

/** Whether the model would read nothing of a thrown error: AI Agent 2 answers it with an empty text (LangChain's AgentExecutor, n8n 2.41). */
function isSwallowed(n8n: IExecuteFunctions): boolean {
	const { parentNode } = n8n as { parentNode?: INode };
	return n8n.isToolExecution() && !parentNode?.type.endsWith('.mcpTrigger');
}

export const failureText = ({ message, description }: NodeFailure): string =>
	description && !message.includes(description) ? `${message}\n${description}` : message;

/** A text in quotation marks, with those within it marked, so that its end is clear. */
export const quoted = (text: string): string => `“${text.replace(/[\\“”]/g, '\\$&')}”`;

/** Joins lines into sentences, so that other sentences can follow. */
export const inSentences = (text: string): string =>
	text
		.split('\n')
		.map((line) => line.trim())
		.filter(Boolean)
		.map((line) => (/[.!?:;,…]$/.test(line) ? line : `${line}.`))
		.join(' ');

/** The items that fit into the length, and notes, one of which counts those left out. @param noteIfComplete is added if none is left out */
export function withinLength(items: INodeExecutionData[], notes: string[], length: number, noteIfComplete?: string): INodeExecutionData[] {
	const complete = [[...notes, noteIfComplete ?? []].flat(), notes].map((all) => withNotes(items, all));
	const fittingAnswer = complete.find((answer) => answerLength(answer) <= length);
	if (fittingAnswer) return fittingAnswer;
	const withOmission = (shown: INodeExecutionData[], omitted: number) => withNotes(shown, [...notes, omissionNote(omitted, items.length, length)]);
	const room = length - Math.max(...[items.length, 0].map((omitted) => answerLength(withOmission([], omitted))));
	let size = 0;
	const firstLeftOut = items.findIndex(({ json }) => (size += sizeOf(json) + 1) > room);
	const fitting = firstLeftOut < 0 ? items : items.slice(0, firstLeftOut);
	const [first] = items;
	const shown = fitting.length === 0 && first ? [{ ...first, json: shortRecord(first.json, room - 1) }] : fitting;
	return withOmission(shown, items.length - shown.length);
}

const answerLength = (items: INodeExecutionData[]): number => sizeOf(items.map(({ json }) => json));

function withNotes(items: INodeExecutionData[], notes: string[]): INodeExecutionData[] {
	if (notes.length === 0) return items;
	return [...items, { json: { note: notes.join('\n') }, pairedItem: { item: 0 } }];
}

function omissionNote(omitted: number, all: number, length: number): string {
	return omitted > 0
		? `${omitted} of ${all} results were left out, because an answer is limited to ${length} characters. To get them, request less at a time if the tool supports it: narrower filters, a lower limit with a cursor, fewer fields.`
		: `Parts of this result were shortened, as marked, because an answer is limited to ${length} characters. To get all of it, request fewer results or fields at a time if the tool supports it; a cursor continues after it.`;
}

/** The record with shorter texts and lists; if that is not enough, its first fields. */
function shortRecord(record: IDataObject, room: number): IDataObject {
	const shorter = [1_000, 300, 100].map((maxLength) => withShort(record, maxLength) as IDataObject);
	const fitting = shorter.find((short) => sizeOf(short) <= room);
	if (fitting) return fitting;
	const fields = Object.entries(shorter.at(-1)!);
	const firstLeftOut = fields.findIndex((_, i) => sizeOf(Object.fromEntries(fields.slice(0, i + 1))) > room - 100);
	return { ...Object.fromEntries(fields.slice(0, firstLeftOut)), fields_left_out: fields.length - firstLeftOut };
}

function withShort(value: unknown, maxLength: number): unknown {
	if (typeof value === 'string') return cut(value, maxLength);
	if (Array.isArray(value)) {
		const maxElements = Math.ceil(maxLength / 40);
		const shorter = value.slice(0, maxElements).map((element) => withShort(element, maxLength));
		return value.length > maxElements ? [...shorter, `… and ${value.length - maxElements} more`] : shorter;
	}
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShort(member, maxLength)]));
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

function cut(text: string, maxLength: number): string {
	if (text.length <= maxLength) return text;
	const keptLength = Math.max(0, maxLength - 40);
	return `${text.slice(0, keptLength)}… (${text.length - keptLength} more characters)`;
}
