// Check requests against GitHub's published GraphQL schema: a line of JSON for each, answered by a line with its errors.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [folder] = process.argv.slice(2);
const require = createRequire(folder + "/");
const { buildSchema, getOperationAST, parse, validate } = require("graphql");
const { getVariableValues } = require("graphql/execution/values.js");
// Two fields of the published schema are there twice.
const schema = buildSchema(readFileSync(folder + "/@octokit/graphql-schema/schema.graphql", "utf8"), { assumeValidSDL: true });

function errors({ query, variables }) {
  try {
    const document = parse(query);
    const wrong = validate(schema, document);
    if (wrong.length) return wrong.map((each) => each.message);
    const { errors } = getVariableValues(schema, getOperationAST(document).variableDefinitions, variables ?? {});
    return (errors ?? []).map((each) => each.message);
  } catch (error) {
    return [String(error)];
  }
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(errors(JSON.parse(line))));
