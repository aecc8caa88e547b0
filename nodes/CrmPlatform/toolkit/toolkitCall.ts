import type { IDataObject, IExecuteFunctions, NodeParameterValueType } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { executionOfOne } from '../base/contexts';
import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import type { Execution, Operation, Write } from '../model';
import type { ModelArguments } from './modelArguments';
import type { RecordType, ToolSettings } from './toolSettings';

/** A call of one of the toolkit's tools, about records of one type. */
export interface ToolkitCall {
	n8n: IExecuteFunctions;
	api: Connection;
	settings: ToolSettings;
	args: ModelArguments;
	recordType: RecordType;
	/** Of the record type, by the service. */
	description: ResourceDescription;
	/** What distinguishes the writes of the call from those of others. */
	identity: Execution['identity'];
}

export interface NamedRecord {
	id: string;
	/** Its name and id. */
	title: string;
	record: IDataObject;
}

/** An operation of the node, with the model's parameters in place of the author's. */
export interface RequestedOperation {
	operation: Operation;
	/** The values of its parameters, by name: `filters.rows` too. */
	parameters: Record<string, unknown>;
	/** The values for the fields of a write. */
	fields?: IDataObject;
	/** The record that it changes, if there is one. */
	target?: NamedRecord | undefined;
}

/** A write that the model requests, as it would be sent. */
export interface RequestedWrite {
	execution: Execution;
	description: WriteDescription;
	write: Write;
	target: NamedRecord | undefined;
}

/** @throws Error in the model's words if the record type does not have the operation */
export function availableOperation({ resource, name }: RecordType, value: string): Operation {
	const operation = resource.operations.find(({ option }) => option.value === value);
	if (operation) return operation;
	throw new Error(`${value} is not available for a ${name}. Use one of its actions, or another kind.`);
}

/** An execution of an operation. Nothing that the model sends is evaluated as an expression. */
export function executionFor(
	{ n8n, api, recordType: { resource, objectKey }, identity }: ToolkitCall,
	{ operation, parameters, fields = {} }: RequestedOperation,
): Execution {
	const fieldsParameters = { fieldsMode: 'json', fieldsJson: `=${modelsFields}` };
	const all: RequestedOperation['parameters'] = { ...parameters, objectKey, ...fieldsParameters, simplify: false };
	const context = executionOfOne(n8n, (parameter, _, otherwise) => all[parameter] ?? otherwise, {
		// Keeps the mapping from reading constant paths such as $json.id without n8n's expression engine.
		isToolExecution: () => true,
		evaluateExpression: (expression) => (expression === modelsFields ? fields : `=${expression}`) as NodeParameterValueType,
	});
	return { n8n: context, api, resource, operation, identity, checks: { links: 'names', values: true } };
}

/** Marks values as a model's, so that invented field names are refused and not ignored. */
const modelsFields = "{{ $fromAI('values') }}";
