import type { IDataObject, IExecuteFunctions, NodeParameterValueType } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { filledPath } from '../api/http/path';
import { executionOfOne } from '../base/contexts';
import type { ResourceDescription } from '../api/openapi/description';
import type { Execution, Operation, Write, Writes } from '../model';
import type { RecordType, ToolSettings } from './toolSettings';

/** One call of a tool. */
export interface ToolRun {
	n8n: IExecuteFunctions;
	api: Connection;
	settings: ToolSettings;
	/** Distinguishes the writes of this call from those of others. */
	identity: Execution['identity'];
	/** Called before a write is sent. */
	onWrite(): void;
}

/** An operation of the node, with the model's parameters in place of the author's. */
export interface OperationCall {
	recordType: RecordType;
	operation: Operation;
	/** The values of the operation’s parameters, by name: `options.sort` too. */
	parameters: Record<string, unknown>;
	/** The values for the fields of a write. */
	fields?: IDataObject;
}

/** A record that the model has named. */
export interface NamedRecord {
	id: string;
	/** Its name and id. */
	title: string;
	record: IDataObject;
}

/** A write that the model requests. */
export interface RequestedWrite extends OperationCall {
	/** The record that it changes, if there is one. */
	target?: NamedRecord;
}

/** A write as it would be sent. */
export interface PlannedWrite extends RequestedWrite {
	write: Write;
	writes: Writes;
	/** In which it was prepared. */
	execution: Execution;
}

/** An execution of an operation. Nothing that the model sends is evaluated as an expression. */
export function executionFor(run: ToolRun, { recordType, operation, parameters, fields = {} }: OperationCall): Execution {
	const { n8n, api } = run;
	const all: OperationCall['parameters'] = { ...parameters, objectKey: recordType.objectKey, fieldsMode: 'json', fieldsJson: `=${modelsFields}`, simplify: false };
	const context = executionOfOne(n8n, (name, _, otherwise) => all[name] ?? otherwise, {
		// Keeps the mapping from reading constant paths such as $json.id without n8n's expression engine.
		isToolExecution: () => true,
		evaluateExpression: (expression) => (expression === modelsFields ? fields : `=${expression}`) as NodeParameterValueType,
	});
	return { n8n: context, api, resource: recordType.resource, operation, identity: run.identity, checking: 'checked' };
}

/** @param place of the write among those of the call */
export const writeIdentity = ({ identity }: ToolRun, place: number): Execution['identity'] => (place === 0 ? identity : { ...identity, run: `${identity.run}/${place}` });

/** Marks values as a model's, so that invented field names are refused and not ignored. */
const modelsFields = "{{ $fromAI('values') }}";

/** Path of the records of this type, with version prefix. */
export const toolCollection = ({ resource, objectKey = '' }: RecordType): string => `/v1${filledPath(resource.path, () => objectKey)}`;

/** @throws Error in the model's words */
export async function toolDescription({ api }: ToolRun, { resource, name }: RecordType): Promise<ResourceDescription> {
	const description = await api.describe(resource.path);
	if (description) return description;
	throw new Error(`The CRM does not offer records of the kind ${name}. Use another kind.`);
}

/** @throws Error in the model's words */
export function operationOfRecordType({ resource, name }: RecordType, value: string): Operation {
	const operation = resource.operations.find(({ option }) => option.value === value);
	if (operation) return operation;
	throw new Error(`${value} is not available for a ${name}. Use one of its actions, or another kind.`);
}
